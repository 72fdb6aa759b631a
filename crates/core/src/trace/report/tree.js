"use strict";
(() => {
  for (const tree of document.querySelectorAll(".tree")) {
    const rows = [...tree.children];
    const moment = tree.closest(".moment, .step");
    const lit = [...moment.querySelectorAll(".lit")];
    const filter = tree.parentElement.querySelector(".filter");
    const depth = (row) => Number(row.dataset.depth);
    const update = () => {
      const word = filter.value.trim().toLowerCase();
      let folded = Infinity;
      for (const row of rows) {
        if (word !== "") {
          row.hidden = !row.textContent.toLowerCase().includes(word);
          continue;
        }
        if (depth(row) <= folded) folded = Infinity;
        row.hidden = folded !== Infinity;
        const button = row.querySelector(".fold");
        if (folded === Infinity && button?.getAttribute("aria-expanded") === "false") folded = depth(row);
      }
    };
    filter.addEventListener("input", update);
    tree.addEventListener("click", (event) => {
      const button = event.target.closest(".fold");
      if (!button) return;
      button.setAttribute("aria-expanded", String(button.getAttribute("aria-expanded") === "false"));
      update();
    });
    tree.addEventListener("mouseover", (event) => {
      const row = event.target.closest("li");
      if (!row) return;
      const [left, top, right, bottom] = row.dataset.rect.split(" ").map(Number);
      for (const rect of lit) {
        rect.setAttribute("x", left);
        rect.setAttribute("y", top);
        rect.setAttribute("width", Math.max(0, right - left));
        rect.setAttribute("height", Math.max(0, bottom - top));
      }
    });
    tree.addEventListener("mouseleave", () => lit.forEach((rect) => rect.setAttribute("width", 0)));
  }
})();
