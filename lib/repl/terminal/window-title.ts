/** The title of the terminal's window while the program runs. The previous one comes back afterwards, if the terminal supports that. */
export class WindowTitle {
  readonly #title: string;
  readonly #terminal: { write(text: string): void };
  #isOpen = false;

  constructor(title: string, terminal: { write(text: string): void }) {
    this.#title = title;
    this.#terminal = terminal;
  }

  open(): void {
    this.#isOpen = true;
    this.#terminal.write('\x1b[22;2t');
    this.show(false);
  }

  /** Shows in the title whether an answer is awaited. */
  show(isAnswering: boolean): void {
    this.#terminal.write(`\x1b]2;${isAnswering ? '… ' : ''}${this.#title}\x1b\\`);
  }

  close(): void {
    if (this.#isOpen) this.#terminal.write('\x1b[23;2t');
    this.#isOpen = false;
  }
}
