// Says which day a time slider stands at while it is moved, and goes there when it is let go.
"use strict";
for (const slider of document.querySelectorAll("form.time input[type=range]")) {
  const shown = slider.form.querySelector("output");
  const start = Date.parse(`${slider.form.elements.namedItem("from").value}T00:00:00Z`);
  slider.addEventListener("input", () => {
    const day = new Date(start + slider.value * 86400000).toISOString().slice(0, 10);
    shown.value = slider.value === slider.max ? "now" : day;
    slider.setAttribute("aria-valuetext", shown.value);
  });
  // A key moves it by one day at a time: the button goes there.
  slider.addEventListener("pointerup", () => setTimeout(() => slider.form.requestSubmit()));
}
