// A page opened from a folder may not start workers. There, the search's worker runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = data => this.#send(this, data);
      this.inside.importScripts = (...urls) => Promise.all(urls.map(one => this.#load(one)));
      this.ready = this.#load(url);
    }

    postMessage(data) {
      this.ready.then(() => this.#send(this.inside, data));
    }

    #send(target, data) {
      setTimeout(() => target.dispatchEvent(new MessageEvent("message", { data })));
    }

    #load(url) {
      const script = this.inside.document.createElement("script");
      script.src = url;
      const loaded = new Promise((resolve, reject) => Object.assign(script, { onload: resolve, onerror: reject }));
      this.inside.document.body.append(script);
      return loaded;
    }
  };
}
