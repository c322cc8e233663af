/** How the prose of answers is wrapped on a terminal: at words, or by the terminal, which breaks words but leaves the text as it came. */
export type WrapMode = 'word' | 'terminal';

export const WRAP_MODES: readonly WrapMode[] = ['word', 'terminal'];

/** What the user can change about how answers are shown while they are in the chat. */
export interface ScreenSettings {
  wrap: WrapMode;
  /** How the line that says what is waited for is shown; `still` is drawn anew once a second only. */
  waiting: 'animated' | 'still' | 'none';
}
