/** What a call would do: what is judged, and what the user is asked about. */
export type Access =
  /** `isFolder`: the path is a folder that is listed. */
  | { readonly kind: 'read'; readonly path: string; readonly isFolder?: boolean }
  /** `preview` is the change as a unified diff, computed only when the user is asked. Rejects when the change cannot be made. */
  | { readonly kind: 'write'; readonly path: string; preview(): Promise<string> }
  | { readonly kind: 'execute'; readonly command: string }
  /** What was said in this conversation, which the user and the model have both read. */
  | { readonly kind: 'conversation' }
  /** What goes with every later request. `byHand` is how the user does it; `preview` is the change, and rejects when it cannot be made. */
  | { readonly kind: 'memory'; readonly byHand: string; preview(): Promise<string> };
