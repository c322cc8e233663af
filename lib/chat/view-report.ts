/** What a request consists of, in tokens of four characters of what is sent. The four sizes add up to all of it. */
export interface ViewReport {
  /** The preamble, the memory, the skills and the tools. */
  readonly head: number;
  /** The summary of earlier messages. */
  readonly block: number;
  /** The messages, without what was recalled with them. */
  readonly tail: number;
  /** The passages that were recalled with them. */
  readonly recalled: number;
  /** How many messages of the conversation are not in it. */
  readonly left_out: number;
}
