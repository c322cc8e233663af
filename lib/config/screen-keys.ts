import { WRAP_MODES, type WrapMode } from '../chat/screen-settings.js';
import { oneOf, setting } from './setting.js';

/** The keys of `config.json` for what is seen and heard, and for what is typed. */
export const SCREEN_KEYS = {
  wrap: oneOf<WrapMode>(
    WRAP_MODES,
    'word',
    'How answers are wrapped on a terminal: `"word"`: prose at words, tables aligned. `"terminal"`: by the terminal, as they came.',
  ),
  theme: oneOf<'auto' | 'dark' | 'light' | 'mono' | 'terminal'>(
    ['auto', 'dark', 'light', 'mono', 'terminal'],
    'auto',
    'The colours of answers: for a dark or a light background, `"mono"` for bold and dim only, `"terminal"` for the 16 of the terminal’s own palette. `"auto"`: by the background, where the terminal tells it.',
  ),
  animation: setting(
    { type: 'boolean' },
    true,
    '`false` keeps the line still that says what is waited for; only its time changes.',
  ),
  screen_reader: setting(
    { type: 'boolean' },
    false,
    '`true` draws nothing twice, for those who listen: no waiting line, no table is aligned, nothing moves below an answer. Questions stay.',
  ),
  notify: oneOf<'auto' | 'bell' | 'off'>(
    ['auto', 'bell', 'off'],
    'auto',
    'How the chat calls when an answer or a question came after more than 10 s: `"bell"`, or `"auto"`: a notification (OSC 9) where the terminal has one, else the bell.',
  ),
  title: setting({ type: 'boolean' }, true, 'Whether the chat sets the title of the window while it runs.'),
  show_usage: setting(
    { type: 'boolean' },
    false,
    'Whether the chat shows the tokens and the cost of each answer, as `-u` does.',
  ),
  keys: oneOf<'emacs' | 'vi'>(
    ['emacs', 'vi'],
    'emacs',
    'The keys of the line editor of the chat: `"emacs"`, as in a shell, or `"vi"`.',
  ),
};
