// Questions of agents to the person: cards above the screen, announced, and counted in the title.

import { post } from "./api.js";
import { attempt, button, byId, el, foreign } from "./dom.js";
import { model, on, refresh, mayAct } from "./model.js";

const box = byId("questions");
/** @type {Map<number, HTMLElement>} Cards stay as they are while one types into them. */
const cards = new Map();

async function answer(number, text) {
  const sent = await attempt(() => post("answer", { question: number, text }));
  if (sent) cards.get(number)?.classList.add("sent");
  await attempt(refresh);
}

function card({ number, text, choices, secret }) {
  const id = "question-" + number;
  const form = el("form", { class: "row" });
  if (choices.length > 0) {
    form.append(...choices.map((choice) => button(foreign(choice), () => answer(number, choice))));
  } else {
    const kind = secret ? { type: "password", autocomplete: "one-time-code" } : { type: "text", autocomplete: "off" };
    const field = el("input", { ...kind, class: "grow", "aria-labelledby": id, required: true });
    form.append(field, el("button", { class: "main" }, "Answer"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      answer(number, field.value);
    });
  }
  form.append(button("Decline", () => answer(number, null)));
  return el("div", { class: "question", role: "group", "aria-labelledby": id },
    el("p", { id }, foreign(text)),
    secret ? el("p", { class: "quiet" }, "Your answer is not shown to the model, and not kept.") : null,
    mayAct() ? form : el("p", { class: "quiet" }, "This page may look only: answer in the terminal or in the client."));
}

function show() {
  const { questions } = model.state;
  document.title = (questions.length > 0 ? `(${questions.length}) Question · ` : "") + "Thumbwire studio";
  for (const [number, shown] of cards) {
    if (questions.some((one) => one.number === number)) continue;
    shown.remove();
    cards.delete(number);
  }
  for (const question of questions) {
    if (cards.has(question.number)) continue;
    const shown = card(question);
    cards.set(question.number, shown);
    box.append(shown);
    byId("announce").textContent = "Question: " + question.text;
  }
}

export function start() {
  on("state", show);
}
