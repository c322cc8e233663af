import type { JsonObject, JsonValue } from '../chat/json.js';
import type { ScreenSettings } from '../chat/screen-settings.js';
import type { StyledWriter } from './answer-writer.js';

/** How a screen shows what happens. */
export interface ScreenOptions {
  /** Only answers, warnings and errors. */
  readonly quiet: boolean;
  /** How answers are styled (`StyledAnswerWriter`); null leaves them plain. */
  readonly styled: StyledWriter | null;
  /** Read for each answer; the defaults when absent. */
  readonly settings?: Readonly<ScreenSettings>;
  /** Whether what the model thinks is shown, dimmed, or folded to one line that says how long it thought; otherwise it is only counted. */
  readonly thinking: boolean | 'folded';
  /** Whether the tokens of each request are shown. */
  readonly usage?: boolean;
  /** What the terminal has to be written to show a picture, null when it cannot; absent where no picture is shown. */
  readonly picture?: (path: string, mime: string) => string | null | Promise<string | null>;
  /** Whether the pages that an answer names are listed under it; true when absent. */
  readonly sources?: boolean;
  /** Whether a terminal gets a waiting line; true when absent. */
  readonly waiting?: boolean;
  /** Whether an empty line parts an answer from its question; false when absent. */
  readonly gap?: boolean;
  now(): number;
  /** Whether an answer in a pipe ends as the model ended it, so that its bytes are the answer and nothing else; otherwise its last line is ended. */
  readonly exact?: boolean;
  /** One line that says what a tool call does; without it the name and the arguments are shown. */
  readonly describe?: (name: string, args: JsonObject) => string;
  /** What a tool call found, in few words; empty where there is nothing to say. */
  readonly found?: (result: JsonValue) => string;
}
