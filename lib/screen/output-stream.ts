/** What is used of a stream for output, which may be a terminal. Node's `Writable` is one. */
export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** How much was written and has not been taken yet. */
  readonly writableLength: number;
  /** Whether so much was written that the caller had better wait. */
  readonly writableNeedDrain: boolean;
  readonly destroyed: boolean;
  /** Calls `done` when the text has left the process, with an error if it cannot. */
  write(text: string, done?: (error?: Error | null) => void): boolean;
  on(event: 'error', listener: (error: Error) => void): this;
  on(event: 'resize', listener: () => void): this;
  off(event: 'resize', listener: () => void): this;
}
