// Browsers give pages that are read from a folder (file://) no workers, and the search of this site is one. Where there are none, a frame
// without a page does its work: it has a global scope of its own, runs the same script, and is told and tells by the same messages.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.documentElement.append(this.frame);
      this.scope = this.frame.contentWindow;
      this.scope.postMessage = (data) => {
        const told = new MessageEvent("message", { data });
        this.dispatchEvent(told);
        if (this.onmessage) this.onmessage(told);
      };
      this.scope.importScripts = (...sources) => Promise.all(sources.map((source) => this.load(source)));
      this.load(String(script)).then(() => {
        const waiting = this.waiting;
        this.waiting = null;
        waiting.forEach((data) => this.tell(data));
      });
    }
    load(source) {
      return new Promise((done, failed) => {
        const element = this.scope.document.createElement("script");
        element.src = source;
        element.onload = done;
        element.onerror = () => failed(new Error(`cannot read ${source}`));
        this.scope.document.body.append(element);
      });
    }
    tell(data) {
      this.scope.dispatchEvent(new this.scope.MessageEvent("message", { data }));
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.tell(data);
    }
    terminate() {
      this.frame.remove();
    }
  };
  window.IFrameWorker = window.Worker; // by this name the search asks where it runs
}
