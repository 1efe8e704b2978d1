// The side bar's link to the list of versions (book/versions.py) becomes a choice of them, which leads to the same page.

(async () => {
  const link = document.querySelector(".versions a");
  if (location.protocol === "file:" || !link.offsetParent) return; // files may not be read; there is one version only
  const root = new URL(".", link.href).href;
  const list = new DOMParser().parseFromString(await (await fetch(link.href)).text(), "text/html");
  const choice = document.createElement("select");
  choice.setAttribute("aria-label", "Version");
  for (const each of list.querySelectorAll("li a")) {
    const there = new URL(".", new URL(each.getAttribute("href"), link.href)).href;
    choice.add(new Option(each.textContent, there, false, there === root));
  }
  choice.addEventListener("change", async () => {
    const page = choice.value + location.href.slice(root.length);
    location.href = (await fetch(page, { method: "HEAD" })).ok ? page : choice.value;
  });
  link.replaceWith(choice);
})();
