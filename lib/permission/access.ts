import type { JsonObject } from '../chat/json.js';

/** What a call would do: what is judged, and what the user is asked about. */
export type Access =
  /** `isFolder`: the path is a folder that is listed. */
  | { readonly kind: 'read'; readonly path: string; readonly isFolder?: boolean }
  /** `preview` is the change as a unified diff, computed only when the user is asked. Rejects when the change cannot be made. */
  | { readonly kind: 'write'; readonly path: string; preview(): Promise<string> }
  | { readonly kind: 'execute'; readonly command: string }
  /** Messages of this conversation, which the user and the model have both read. */
  | { readonly kind: 'conversation' }
  /**
   * A change to what is sent with every later request. `byHand` says how the user can make it; `preview` is a diff, and rejects when the change cannot be made.
   */
  | { readonly kind: 'memory'; readonly byHand: string; preview(): Promise<string> }
  | ServerAccess;

/** A call of a tool that another program runs. All that is known about the tool is what that program claims. */
export interface ServerAccess {
  readonly kind: 'server';
  /** The arguments of the call. */
  readonly args: JsonObject;
  /** A description of the tool for the question to the user: its server, and that server's claims. */
  readonly about: string;
  /** Why earlier approvals no longer count, for example because the description has changed; null when they still do. */
  readonly changed: string | null;
  /** Whether the tool has changed since the user last saw it. `-y` does not approve it then. */
  readonly isAnother: boolean;
  /** The complete call, followed by the changes of the tool. */
  preview(): string;
  /** Records that the user has seen the current tool. */
  accept(): void;
  /** Records that the user has replaced the server on purpose, and accepts all its current tools. */
  acceptServer(): void;
}
