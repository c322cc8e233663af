import type { SalvageReport } from './salvage.js';

/** The notice about a repair: what happened, what was recovered, what was not, and where the file is kept. */
export function repairNotice(report: SalvageReport, kept: string, unverified: string | null): string {
  const { entries, format, parts } = report;
  const isDamaged = format === null && parts < 2;
  return [
    ...causes(report),
    entries > 0 ? `${counted(entries, 'entry was', 'entries were')} recovered.` : emptyNotice(report),
    ...losses(report, unverified),
    `The ${isDamaged ? 'damaged ' : ''}file is kept as '${kept}'.`,
  ].join(' ');
}

/** The notice about an edited file. It is not damaged and stays in place until something is written. */
export function editNotice(report: SalvageReport): string {
  const { changed, isRenumbered, foreign } = report;
  const done = [
    ...(isRenumbered ? ['entries got new ids, because theirs do not ascend or are too high'] : []),
    ...(changed > 0 ? [`${counted(changed, 'entry', 'entries')} lacked fields, which were filled in`] : []),
    ...(foreign > 0 ? [foreignElements(foreign)] : []),
  ];
  return `The history was edited by another program: ${done.join('; ')}. The file stays unchanged until the next message.`;
}

/** The notice that says where the edited file is kept, once a message was written. */
export function keptNotice(path: string): string {
  return `The edited history is kept as '${path}'.`;
}

function emptyNotice({ unverified }: SalvageReport): string {
  return unverified > 0 ? 'A new history was started.' : 'Nothing in it could be read. A new history was started.';
}

function causes({ format, parts, missing, unverified }: SalvageReport): readonly string[] {
  const found: string[] = [];
  if (format !== null) found.push(`The history was not one JSON array in zstd but ${format}.`);
  if (parts > 1) found.push(`The history was ${parts} files joined into one; they are one conversation now.`);
  if (found.length === 0 || missing + unverified > 0) found.push('The history was damaged.');
  return found;
}

function losses({ missing, unverified, foreign, repeated }: SalvageReport, path: string | null): readonly string[] {
  const found: string[] = [];
  if (missing > 0) found.push(`${counted(missing, 'entry is', 'entries are')} missing.`);
  if (unverified > 0) found.push(`${unconfirmedEntries(unverified)}; see '${path}'.`);
  if (foreign > 0) found.push(`${foreignElements(foreign)}.`);
  if (repeated > 0) found.push(`${counted(repeated, 'entry was', 'entries were')} there twice.`);
  return found;
}

function unconfirmedEntries(count: number): string {
  return `${counted(count, 'entry is', 'entries are')} left out, because no checksum confirms ${count === 1 ? 'it' : 'them'}`;
}

function foreignElements(count: number): string {
  const reason = count === 1 ? 'it is not a message' : 'they are not messages';
  return `${counted(count, 'element is', 'elements are')} left out, because ${reason}`;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
