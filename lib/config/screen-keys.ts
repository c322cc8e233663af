import { WRAP_MODES, type WrapMode } from '../chat/event.js';
import { oneOf, setting } from './setting.js';

/** The keys of `config.json` about display, sound and typing. */
export const SCREEN_KEYS = {
  wrap: oneOf<WrapMode>(
    WRAP_MODES,
    'word',
    'How answers are wrapped. `"word"`: between words, with tables aligned. `"terminal"`: by the terminal, with the text as it came.',
  ),
  theme: oneOf<'auto' | 'dark' | 'light' | 'mono' | 'terminal'>(
    ['auto', 'dark', 'light', 'mono', 'terminal'],
    'auto',
    'The colours of answers: for a dark or a light background, `"mono"` for bold and dim only, `"terminal"` for the terminal’s own 16 colours. `"auto"` asks the terminal for its background.',
  ),
  animation: setting(
    { type: 'boolean' },
    true,
    '`false` stops the animation of the status line; only its time changes.',
  ),
  screen_reader: setting(
    { type: 'boolean' },
    false,
    '`true` never redraws anything, for screen readers: no status line, no aligned tables, nothing that moves below an answer. Questions are still asked.',
  ),
  notify: oneOf<'auto' | 'bell' | 'off'>(
    ['auto', 'bell', 'off'],
    'auto',
    'How the chat alerts you, while the terminal is not in focus, to an answer or a question that took more than 10 s. `"bell"`, or `"auto"`: a notification (OSC 9) if the terminal supports it, else the bell.',
  ),
  title: setting({ type: 'boolean' }, true, 'Whether the chat sets the title of the window while it runs.'),
  show_usage: setting(
    { type: 'boolean' },
    false,
    'Whether the chat shows the tokens and cost of each answer, as `-u` does.',
  ),
  keys: oneOf<'emacs' | 'vi'>(
    ['emacs', 'vi'],
    'emacs',
    'The key bindings of the chat’s line editor: `"emacs"`, as in a shell, or `"vi"`.',
  ),
};
