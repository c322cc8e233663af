/** The possible replacements for the end of the text before the cursor. */
export interface Completion {
  /** The offset where the replaced text starts. */
  readonly from: number;
  readonly candidates: readonly Candidate[];
  /** Whether the candidates may begin otherwise than what was typed: then only a single one takes its place. */
  readonly isFuzzy?: boolean;
}

export interface Candidate {
  /** The replacement. */
  readonly text: string;
  /** Printed after it in the list. */
  readonly summary?: string;
}
