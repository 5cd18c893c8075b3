(() => {
  "use strict";
  const all = (where, what) => [...where.querySelectorAll(what)];
  const reach = 26;
  all(document, ".mark > title").forEach((title) => title.remove()); // the tip says it sooner

  const light = (place) => {
    all(document, ".chart").forEach((chart) => {
      chart.classList.toggle("lit", place !== null);
      all(chart, ".series").forEach((line) => line.classList.toggle("on", line.dataset.series === place));
    });
  };

  all(document, ".legend button").forEach((button) => {
    const place = button.dataset.series;
    const shown = () => button.getAttribute("aria-pressed") === "true";
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(!shown()));
      all(document, `.series[data-series="${place}"]`).forEach((line) => line.classList.toggle("off", !shown()));
      light(shown() ? place : null);
    });
    ["pointerenter", "focus"].forEach((name) => button.addEventListener(name, () => shown() && light(place)));
    ["pointerleave", "blur"].forEach((name) => button.addEventListener(name, () => light(null)));
  });

  all(document, "figure").forEach((figure) => {
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    figure.append(tip);
    all(figure, ".chart").forEach((chart) => {
      const nearest = (event) => {
        const box = chart.getBoundingClientRect();
        const scale = box.width / chart.viewBox.baseVal.width;
        let best = null;
        let least = reach;
        all(chart, ".series:not(.off) .mark").forEach((mark) => {
          const x = mark.dataset.x * scale;
          const y = mark.dataset.y * scale;
          const far = Math.hypot(event.clientX - box.left - x, event.clientY - box.top - y);
          if (far < least) {
            least = far;
            best = { mark, x, y };
          }
        });
        return best;
      };
      const show = (event) => {
        const found = nearest(event);
        tip.hidden = !found;
        light(found ? found.mark.parentNode.dataset.series : null);
        if (!found) return;
        tip.textContent = found.mark.dataset.say;
        const half = tip.offsetWidth / 2 + 6;
        const left = found.x + chart.getBoundingClientRect().left - figure.getBoundingClientRect().left;
        tip.style.left = `${Math.min(Math.max(left, half), figure.clientWidth - half)}px`;
        tip.style.top = `${found.y + chart.getBoundingClientRect().top - figure.getBoundingClientRect().top}px`;
      };
      ["pointermove", "pointerdown"].forEach((name) => chart.addEventListener(name, show));
      chart.addEventListener("pointerleave", () => {
        tip.hidden = true;
        light(null);
      });
    });
  });
})();
