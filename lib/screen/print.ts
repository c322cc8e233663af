import type { ChatEventOf } from '../chat/event.js';
import type { HiError } from '../errors.js';
import { neutralise } from './text/neutralise.js';

/** An error as shown to the user: what happened, and below it what to do. It is neutralised, because it may quote servers and files. */
export function errorText(error: HiError): string {
  const hint = error.hint === null ? '' : `\n    ${error.hint.replaceAll('\n', '\n    ')}`;
  return neutralise(`hi: ${error.message}${hint}`);
}

/** A duration in short form: 0.4s, 3s, 2m 05s. */
export function shortTime(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 1) return `${seconds.toFixed(1)}s`;
  if (seconds < 60) return `${Math.floor(seconds)}s`;
  return `${Math.floor(seconds / 60)}m ${String(Math.floor(seconds % 60)).padStart(2, '0')}s`;
}

/** Which skills were loaded and dropped: `skills: +review -deploy`. */
export function skillsLine({ loaded, dropped }: ChatEventOf<'skills'>): string {
  return `skills: ${[...loaded.map((name) => `+${name}`), ...dropped.map((name) => `-${name}`)].join(' ')}`;
}
