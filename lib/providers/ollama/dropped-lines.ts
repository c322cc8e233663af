import { PlainResponse } from '../../http/plain-globals.js';
import { PlainStream } from '../../http/plain-stream.js';
import { listenToConsole } from '../../http/sdk-console.js';

/** What Ollama's SDK writes on the console before a line that it cannot parse and drops. */
const COMPLAINT = 'invalid json: ';

/** Finds out which line of a response the SDK dropped: it tells that on the console only, where several responses may be told of. */
export class DroppedLines {
  /** The first one, null when there is none. */
  first: string | null = null;
  #stop = () => {};
  /** The chunks that hold the line the SDK is at. */
  #recent: Uint8Array[] = [];

  /** The same response, watched until `end`. */
  watch(response: Response): Response {
    if (response.body === null) return response;
    this.#stop = listenToConsole(([what, line]) => {
      if (what === COMPLAINT && typeof line === 'string' && line.trim() !== '' && this.#has(line)) this.first ??= line;
    });
    const reader = response.body.getReader();
    const body = new PlainStream({
      next: async () => {
        const { value } = await reader.read();
        if (value !== undefined) this.#remember(value);
        return value ?? null;
      },
      stop: () => void reader.cancel(),
    });
    return PlainResponse.rewritten(response, body);
  }

  end(): void {
    this.#stop();
  }

  #remember(chunk: Uint8Array): void {
    // A line that is not over yet began in the last chunk with a line end.
    if (this.#recent.at(-1)?.includes(LINE_END)) this.#recent = this.#recent.slice(-1);
    this.#recent.push(chunk);
  }

  #has(line: string): boolean {
    return `\n${Buffer.concat(this.#recent).toString('utf8')}`.includes(`\n${line}\n`);
  }
}

const LINE_END = '\n'.charCodeAt(0);
