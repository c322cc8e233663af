/** What to forget: everything that contains a text, some messages, or everything since a time. */
export type ForgetOrder =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'messages'; readonly ids: readonly number[] }
  | { readonly kind: 'since'; readonly from: Date };
