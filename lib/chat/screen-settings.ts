/** How the prose of answers is wrapped on a terminal: at words, or by the terminal, which breaks words but does not change the text. */
export type WrapMode = 'word' | 'terminal';

export const WRAP_MODES: readonly WrapMode[] = ['word', 'terminal'];

/** The settings of the screen that the user can change during a chat. */
export interface ScreenSettings {
  wrap: WrapMode;
  /** How the waiting line is drawn; `still` is redrawn only once a second. */
  waiting: 'animated' | 'still' | 'none';
}
