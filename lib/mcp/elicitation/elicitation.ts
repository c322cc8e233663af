import type { JsonObject } from '../../chat/json.js';

/** A question of a server to the user during a call. Its texts are not sanitised yet. */
export type Elicitation =
  | { readonly kind: 'form'; readonly message: string; readonly schema: JsonObject }
  /** The user visits an address; the server learns the outcome by itself. */
  | { readonly kind: 'url'; readonly message: string; readonly url: string };

/** A value that a form can hold. */
export type FormValue = string | number | boolean | readonly string[];

/** The user's answer. `cancel`: neither yes nor no. */
export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, FormValue>> }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

/** Asks the user what this server wants to know. */
export type Elicit = (server: string, question: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;
