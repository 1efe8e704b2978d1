// Python as this site starts it in a worker: that of JupyterLite's kernel, which takes this for Pyodide's own script, or
// that of a page's cells. JupyterLite's is started with the page (lesson.js); its kernel then finds it running.

{
  const start = async (folder, packages) => {
    const [later, list] = ["later.py", "pyodide-lock.json"].map(async (name) => (await fetch(folder + name)).text());
    importScripts(`${folder}pyodide.js`);
    const python = await loadPyodide({ indexURL: folder, packages });
    python.runPython("import pyodide_kernel"); // before there is a drive, in which each look for a module is a request
    python.FS.writeFile("later.py", await later);
    const ahead = python.pyimport("later").begin(await list, python.loadedPackages, (name) => bring(folder + name));
    for (const name of ahead) fetch(folder + name).then((answer) => answer.arrayBuffer()); // for the browser's cache
    return python;
  };

  /** Return what is at an address, or nothing; an import cannot wait for anything else. */
  const bring = (address) => {
    const request = new XMLHttpRequest();
    request.open("GET", address, false);
    request.responseType = "arraybuffer";
    try {
      request.send();
    } catch {}
    return request.status === 200 ? request.response : null;
  };

  self.loadPyodide = ({ indexURL, packages }) => (self.python ??= start(indexURL, packages));

  if (location.pathname.endsWith("/python.js")) {
    self.python ??= start(new URL("./", location).href, location.search.slice(1).split(","));
    onmessage = ({ data }) => {
      onmessage = null;
      importScripts(data); // the kernel's script, which listens to the next messages
    };
  }
}
