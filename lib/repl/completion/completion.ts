/** The possible replacements for the end of the text before the cursor. */
export interface Completion {
  /** The offset where the replaced text starts. */
  readonly from: number;
  readonly candidates: readonly Candidate[];
  /** Whether candidates need not start with the typed text. If so, the typed text is replaced only if there is a single candidate. */
  readonly isFuzzy?: boolean;
}

export interface Candidate {
  /** The replacement. */
  readonly text: string;
  /** Shown next to it in the list. */
  readonly summary?: string;
}
