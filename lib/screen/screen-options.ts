import type { JsonObject, JsonValue } from '../chat/json.js';
import type { ScreenSettings } from '../chat/screen-settings.js';
import type { StyledWriter } from './answer-writer.js';

/** How a screen shows what happens. */
export interface ScreenOptions {
  /** Only answers, warnings and errors. */
  readonly quiet: boolean;
  /** How answers are styled (`StyledAnswerWriter`); null leaves them plain. */
  readonly styled: StyledWriter | null;
  /** Read for each answer. Absent means the defaults. */
  readonly settings?: Readonly<ScreenSettings>;
  /** Whether the model's thinking is shown, dimmed, or folded into one line with its duration. If false, it is only counted. */
  readonly thinking: boolean | 'folded';
  /** Whether the tokens of each request are shown. */
  readonly usage?: boolean;
  /** The sequence that makes the terminal show an image, null if it cannot. Absent if no images are shown. */
  readonly inlineImage?: (path: string, mime: string) => string | null | Promise<string | null>;
  /** Whether the pages that an answer cites are listed under it; true if absent. */
  readonly sources?: boolean;
  /** Whether a terminal gets a waiting line; true if absent. */
  readonly waiting?: boolean;
  /** Whether an empty line separates an answer from its question; false if absent. */
  readonly gap?: boolean;
  now(): number;
  /** Whether an answer in a pipe is exactly the model's bytes; if false or absent it ends with one newline. */
  readonly exact?: boolean;
  /** Whether an empty line separates what is written to a pipe before and after `close`; false if absent. */
  readonly separate?: boolean;
  /** Describes a tool call in one line. Without it, the name and the arguments are shown. */
  readonly describe?: (name: string, args: JsonObject) => string;
  /** Summarises the result of a tool call in a few words; empty if there is nothing to say. */
  readonly found?: (result: JsonValue) => string;
}
