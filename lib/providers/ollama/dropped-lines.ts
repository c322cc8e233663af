import { listenToConsole } from '../../http/sdk-console.js';
import { PlainResponse, PlainStream } from '../../http/web-standard.js';

/** The SDK's console message before a line that it cannot parse and drops. */
const DROP_MESSAGE = 'invalid json: ';

/** Detects the line of a response that the SDK dropped. The SDK reports it only on the console, which all responses share. */
export class DroppedLines {
  /** The first dropped line, or null. */
  first: string | null = null;
  #stop = () => {};
  /** The chunks that contain the line that the SDK is reading. */
  #recent: Uint8Array[] = [];

  /** The same response, watched until `end`. */
  watch(response: Response): Response {
    if (response.body === null) return response;
    this.#stop = listenToConsole(([what, line]) => {
      if (what === DROP_MESSAGE && typeof line === 'string' && line.trim() !== '' && this.#has(line))
        this.first ??= line;
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
    // An unfinished line began in the last chunk with a line end.
    if (this.#recent.at(-1)?.includes(LINE_END)) this.#recent = this.#recent.slice(-1);
    this.#recent.push(chunk);
  }

  #has(line: string): boolean {
    return `\n${Buffer.concat(this.#recent).toString('utf8')}`.includes(`\n${line}\n`);
  }
}

const LINE_END = '\n'.charCodeAt(0);
