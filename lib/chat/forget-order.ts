/** What is to be forgotten: whatever has a text, some messages, or everything since a moment. */
export type ForgetOrder =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'messages'; readonly ids: readonly number[] }
  | { readonly kind: 'since'; readonly from: Date };
