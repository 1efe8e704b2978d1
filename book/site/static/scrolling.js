// What scrolls sideways can be reached by keyboard.
addEventListener("DOMContentLoaded", () => {
  for (const each of document.querySelectorAll("pre, .output, .table-wrapper, .math")) {
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
  }
});
