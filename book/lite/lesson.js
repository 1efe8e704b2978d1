// JupyterLite takes a lesson out of the address when it has opened it, and then a reload opens none. So it is put in
// again before that reads it; without one it is the lesson that was opened last in this browser, or else the first.
// And Python starts with the page (python.js), not when JupyterLab has drawn the lesson: its kernel gets that worker.

(() => {
  const { first, python } = document.currentScript.dataset;
  const address = new URL(location.href);
  const KEY = `minigrad-lesson ${address.pathname}`;
  let kept;
  try {
    kept = address.searchParams.get("path") ?? localStorage.getItem(KEY);
    if (kept) localStorage.setItem(KEY, kept);
  } catch {} // this browser keeps nothing
  address.searchParams.set("path", kept ?? first);
  history.replaceState(null, "", address);

  const Usual = window.Worker;
  const started = new Usual(python);
  window.Worker = new Proxy(Usual, {
    construct(_, [script, options]) {
      if (!String(script).includes("pyodide-kernel")) return new Usual(script, options);
      window.Worker = Usual; // later kernels start their own
      started.postMessage(String(script));
      return started;
    },
  });
})();
