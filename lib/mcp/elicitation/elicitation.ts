import type { JsonObject } from '../../chat/json.js';

/** What a server wants to know of the user in the middle of a call. Nothing of it was made harmless yet. */
export type Elicitation =
  | { readonly kind: 'form'; readonly message: string; readonly schema: JsonObject }
  /** The user does something at an address, which the server learns of in its own way. */
  | { readonly kind: 'url'; readonly message: string; readonly url: string };

/** A value that a form can hold. */
export type FormValue = string | number | boolean | readonly string[];

/** What the user said. `cancel`: neither yes nor no. */
export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, FormValue>> }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

/** Asks the user what this server wants to know. */
export type Elicit = (server: string, question: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;
