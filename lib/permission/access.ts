import type { JsonObject } from '../chat/json.js';

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
  | { readonly kind: 'memory'; readonly byHand: string; preview(): Promise<string> }
  | ServerAccess;

/** The call of a tool that another program runs, of which nothing is known but what that program says. */
export interface ServerAccess {
  readonly kind: 'server';
  /** What the tool is called with. */
  readonly args: JsonObject;
  /** What the user is told about it in a question: whose tool it is, and what its server claims. */
  readonly about: string;
  /** Why no earlier answer holds, such as that its description is another one now; null where they do. */
  readonly changed: string | null;
  /** Whether the user has to see the tool itself, which is another one than they saw: then `-y` does not cover it. */
  readonly isAnother: boolean;
  /** The call in full, and below it what has changed. */
  preview(): string;
  /** Keeps that the user has seen the tool as it is now. */
  accept(): void;
  /** Keeps that the server is another one by the user's own will, with all tools as they are now. */
  acceptServer(): void;
}
