"""Reads the ids off marked screenshots: `marks.py JOB`, where JOB lists pictures with their labels and where each stands. Prints what was
misread, and as its last line how many labels there were and how many were read."""

import json
import sys

import cv2
from rapidocr_onnxruntime import RapidOCR

# The part of finding lines in a page, which knows no single digits, is left out: a label is cut out as a person fixes it.
AROUND = 1
# Letters as high as the reader's examples were.
HEIGHT = 48


def cut_out(picture, place):
    left, top, right, bottom = place
    height, width = picture.shape[:2]
    left, top = max(0, left - AROUND), max(0, top - AROUND)
    part = picture[top : min(height, bottom + AROUND), left : min(width, right + AROUND)]
    scale = HEIGHT / part.shape[0]
    return cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)


reader = RapidOCR()
labels = read = 0
for picture in json.load(open(sys.argv[1])):
    pixels = cv2.imread(picture["file"])
    misread = {}
    for one in picture["labels"]:
        labels += 1
        found, _ = reader(cut_out(pixels, one["place"]), use_det=False, use_cls=False, use_rec=True)
        words = found[0][0].strip() if found else ""
        if words == one["label"]:
            read += 1
        else:
            misread[one["label"]] = words
    print(picture["file"].rsplit("/", 1)[-1], len(picture["labels"]), "labels, misread:", misread)
print(json.dumps({"labels": labels, "read": read}))
