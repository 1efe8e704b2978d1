// JupyterLite takes a lesson out of the address when it has opened it, and then a reload opens none. So it is put in
// again before that reads it; without one it is the lesson that was opened last in this browser, or else the first.

(() => {
  const address = new URL(location.href);
  const KEY = `minigrad-lesson ${address.pathname}`;
  let kept;
  try {
    kept = address.searchParams.get("path") ?? localStorage.getItem(KEY);
    if (kept) localStorage.setItem(KEY, kept);
  } catch {} // this browser keeps nothing
  address.searchParams.set("path", kept ?? document.currentScript.dataset.first);
  history.replaceState(null, "", address);
})();
