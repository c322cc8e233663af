import { isMessage } from '../chat/entry.js';
import type { Message, TextPart } from '../chat/message.js';
import { localTime, quantity } from '../chat/text.js';
import type { HistoryStore } from '../history/store.js';
import { isSameDay, offsetFromUtc } from '../time-zone/time-zone.js';
import type { Clock } from './common/deps.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Where the user wrote a message. */
type Place = Required<Pick<Message, 'cwd' | 'host' | 'zone'>>;

/** The line to put before the user's message, null for none, and the place to record with it. */
export interface ClockReading {
  readonly line: TextPart | null;
  readonly place: Pick<Message, 'host' | 'zone'>;
}

/** Yields a line only if the time or place differs from that of the last message, so that most messages cost nothing. */
export function readClock(clock: Clock, cwd: string, history: HistoryStore): ClockReading {
  const place = { host: clock.host.split('.')[0] ?? clock.host, zone: zoneOf(clock.now()) };
  const sent = history.view(null).messages;
  const messages = sent.length > 0 ? sent : history.entries.filter(isMessage);
  const newest = messages.at(-1);
  const user = messages.findLast(({ role, zone }) => role === 'user' && zone !== undefined);
  return { line: newest === undefined ? null : lineAfter(newest, user, { cwd, ...place }, clock), place };
}

function lineAfter(
  newest: Message,
  user: Message | undefined,
  { cwd, host, zone }: Place,
  { now, home }: Clock,
): TextPart | null {
  const [time, then] = [now(), new Date(newest.at)];
  const gap = time.getTime() - then.getTime();
  const hasMoved = user !== undefined && user.host !== host;
  const hasTurned = user !== undefined && user.zone !== zone;
  const isElsewhere = hasMoved || hasTurned || (user ?? newest).cwd !== cwd;
  if (gap <= HOUR && isSameDay(time, then) && !isElsewhere) return null;
  const parts = [
    `${localTime(time.toISOString())} ${zone}`,
    ...(gap > HOUR ? [`${gapOf(gap)} later`] : []),
    home !== '' && (cwd === home || cwd.startsWith(`${home}/`)) ? `~${cwd.slice(home.length)}` : cwd,
    ...(hasMoved ? [`on ${host}`] : []),
  ];
  return { type: 'text', text: `[${parts.map(asLine).join(' · ')}]`, clock: true };
}

/** The offset from UTC: `UTC+1`, `UTC-3:30`. */
function zoneOf(time: Date): string {
  const minutes = offsetFromUtc(time);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const distance = rest === 0 ? String(hours) : `${hours}:${String(rest).padStart(2, '0')}`;
  return minutes === 0 ? 'UTC' : `UTC${minutes < 0 ? '-' : '+'}${distance}`;
}

/** An elapsed time, in the largest unit of which there are at least two. */
function gapOf(gap: number): string {
  if (gap < 2 * DAY) return quantity(Math.round(gap / HOUR), 'hour');
  if (gap < 60 * DAY) return quantity(Math.round(gap / DAY), 'day');
  return gap < 730 * DAY
    ? quantity(Math.round(gap / (30.44 * DAY)), 'month')
    : quantity(Math.floor(gap / (365.25 * DAY)), 'year');
}

/** Folder names may contain any character. */
function asLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, '?');
}
