"""What marks cost and give: `marks.py JOB`, where JOB lists screens, each with a clean and a marked picture at the size that a model gets, and
the labels that were drawn, with their places.

A mark is read if OCR finds its label at its place. A word is lost if OCR finds it on the clean picture, and there again after a round
trip through JPEG, but not at the same place of the marked picture. Prints a row for each screen and, as its last line, the sums as JSON."""

import json
import math
import re
import sys
import unicodedata

import cv2
import numpy
from rapidocr_onnxruntime import RapidOCR

# Lines that OCR is less sure of are no base for a comparison.
SURE = 0.8
# The longer side of the picture in which lines of text are looked for; they are read in full size.
LOOKED_AT = 1120

ALIKE = str.maketrans("lı|!0", "iiiio")

reader = RapidOCR(det_limit_type="max", det_limit_side_len=LOOKED_AT)
# Labels are short: without this each would be padded to the width of a line.
narrow = RapidOCR(rec_img_shape=[3, 48, 96]).text_rec


def cut_out(picture, place):
    left, top, right, bottom = place
    # Whole pixels of the label alone: a mixed one at its edge looks like a 1.
    left, top, right, bottom = math.ceil(left), math.ceil(top), int(right), int(bottom)
    part = picture[top:bottom, left:right]
    # The reader's examples are 48 pixels high.
    return cv2.resize(part, None, fx=48 / part.shape[0], fy=48 / part.shape[0], interpolation=cv2.INTER_CUBIC)


def misread(screen, marked):
    """The labels that cannot be read, each with what was read. One that found no place is not there to be read."""
    wrong = {one["label"]: None for one in screen["labels"] if one["place"] is None}
    drawn = [one for one in screen["labels"] if one["place"] is not None]
    parts = [cut_out(marked, one["place"]) for one in drawn]
    found, _ = narrow(parts) if parts else ([], 0)
    pairs = zip(drawn, found)
    return wrong | {one["label"]: words.strip() for one, (words, _) in pairs if words.strip() != one["label"]}


def words(text):
    """The words, with one sign for those that the reader confuses on clean pictures too."""
    text = unicodedata.normalize("NFKC", text).lower()
    return [word.translate(ALIKE) for word in re.findall(r"\d+|[^\W\d]+", text)]


def has(word, text):
    """Whether a line has the word. A short one has to stand alone: there is a 5 in every other label."""
    found = words(text)
    return word in found or (len(word) > 2 and word in "".join(found))


def without(labels, text):
    for label in labels:
        text = text.replace(label, " ", 1)
    return text


def meets(box, place):
    left, top, right, bottom = place
    (low_x, low_y), (high_x, high_y) = box.min(axis=0), box.max(axis=0)
    return left < high_x and right > low_x and top < high_y and bottom > low_y


def lost(screen, clean, marked):
    """How many words there are, and those that the marked picture lacks."""
    boxes, _ = reader.text_det(clean)
    if boxes is None or not len(boxes):
        return 0, []
    _, file = cv2.imencode(".jpg", clean, [cv2.IMWRITE_JPEG_QUALITY, 90])
    control = cv2.imdecode(file, cv2.IMREAD_COLOR)
    boxes = reader.sorted_boxes(boxes)

    def read(picture, which):
        parts = reader.get_crop_img_list(picture, [boxes[at] for at in which])
        return dict(zip(which, reader.text_rec(parts)[0]))

    first = read(clean, range(len(boxes)))
    sure = [at for at, (_, score) in first.items() if score >= SURE]
    again, then = read(control, sure), read(marked, sure)
    count, gone = 0, []
    for at in sure:
        near = [one["label"] for one in screen["labels"] if one["place"] and meets(numpy.array(boxes[at]), one["place"])]
        for word in words(first[at][0]):
            if has(word, again[at][0]):
                count += 1
                text = then[at][0]
                if not has(word, text) and not has(word, without(near, text)):
                    gone.append(f"{word} ({text})")
    return count, gone


total = {"labels": 0, "read": 0, "words": 0, "lost": 0}
for screen in json.load(open(sys.argv[1])):
    clean, marked = cv2.imread(screen["clean"]), cv2.imread(screen["marked"])
    wrong = misread(screen, marked)
    count, gone = lost(screen, clean, marked)
    labels = len(screen["labels"])
    total["labels"] += labels
    total["read"] += labels - len(wrong)
    total["words"] += count
    total["lost"] += len(gone)
    print(f"{screen['name']:<26}{labels - len(wrong):4} of{labels:4} marks,{len(gone):4} of{count:4} words lost", wrong or "", gone or "", flush=True)
print(json.dumps(total))
