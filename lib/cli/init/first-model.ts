import { capitalised, percent, sizeText } from '../../chat/text.js';
import { readKey } from '../../config/read-key.js';
import { HiError, isAbort } from '../../errors.js';
import type { ProviderSettings, PullProgress } from '../../providers/common/provider.js';
import { errorText, shortTime } from '../../screen/print.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import { monotonic } from '../../waits.js';
import { openPrompts, type Prompts } from '../ask/asker.js';
import { canApprove, ProgressLine } from '../base/output.js';
import { type EmptyServer, idleTimeout, readSettings, type Settings, type SettingsOptions } from '../base/settings.js';
import type { World } from '../base/world.js';

/**
 * The settings of a turn. If the server found has no model, asks the user on a terminal which one it should download.
 * Without a terminal, they stay unchanged. Throws an abort error if the user leaves.
 */
export async function withFirstModel(
  world: World,
  options: SettingsOptions,
  settings: Settings,
  signal: AbortSignal,
): Promise<Settings> {
  const { empty } = settings;
  if (empty === null || !canApprove(world)) return settings;
  const name = await offerModel(world, empty, 'none', await openPrompts(world, signal), signal);
  if (name === null) return { ...settings, problem: settings.problem && declined(settings.problem) };
  return await readSettings(world, options);
}

/** The same error, after which no set-up is offered: it would ask again what the user just declined. */
function declined({ code, message, hint }: HiError): HiError {
  return new HiError(code, message, hint === null ? {} : { hint });
}

/** How long a server may process a finished download, in milliseconds. */
const TIME_LIMIT = 10 * 60_000;

const OTHER = 'another model';

/**
 * Asks which model a server without one should download, and downloads it. Resolves to its name, or null if the user
 * wants none; `otherwise` is the label of that choice. Throws an abort error if the user leaves.
 */
export async function offerModel(
  world: World,
  { member, access }: EmptyServer,
  otherwise: string,
  prompts: Prompts,
  signal: AbortSignal,
): Promise<string | null> {
  const timeout = world.env.HI_IDLE_TIMEOUT_MS ? idleTimeout(world) : TIME_LIMIT;
  const apiKey = await readKey(access.apiKey);
  const puller: Puller = { world, member, settings: { ...access, apiKey, idleTimeout: timeout, env: world.env } };
  for (;;) {
    const name = await choose(puller, otherwise, prompts, signal);
    if (name === null) return null;
    try {
      await pullModel(puller, name, signal);
      return name;
    } catch (thrown) {
      if (isAbort(thrown) || !(thrown instanceof HiError)) throw thrown;
      prompts.say(errorText(thrown));
    }
  }
}

/** The name of a model whose size the user has seen; null for none. */
async function choose(
  puller: Puller,
  otherwise: string,
  prompts: Prompts,
  signal: AbortSignal,
): Promise<string | null> {
  const { title, downloads = [] } = puller.member;
  for (;;) {
    const chosen = await prompts.select(
      `${capitalised(title)} is running, but it has no model yet. Which one should it download?`,
      [
        ...downloads.map(
          ({ name, bytes, summary }) => [`=${name}`, `${name}: ${sizeText(bytes)}, ${summary}`] as const,
        ),
        ['other', OTHER],
        ['none', otherwise],
      ],
    );
    if (chosen === 'none') return null;
    if (chosen !== 'other') return chosen.slice(1);
    const typed = await typedModel(puller, prompts, signal);
    if (typed !== null) return typed;
  }
}

async function typedModel(puller: Puller, prompts: Prompts, signal: AbortSignal): Promise<string | null> {
  const typed = await prompts.input(
    'Name of the model, such as gemma3:4b:',
    (text) => text.trim() !== '' || 'Type the name of a model.',
  );
  const name = typed.trim();
  try {
    const bytes = await downloadSize(puller, name, signal);
    if (bytes === null) return name;
    const answer = await prompts.select(`${visibleLine(name)} has ${sizeText(bytes)}. Download it?`, [
      ['yes', 'yes'],
      ['no', 'no, choose another'],
    ]);
    return answer === 'yes' ? name : null;
  } catch (thrown) {
    if (isAbort(thrown) || !(thrown instanceof HiError)) throw thrown;
    prompts.say(errorText(thrown));
    return null;
  }
}

/** What a download needs. */
interface Puller {
  readonly world: World;
  readonly member: EmptyServer['member'];
  readonly settings: ProviderSettings;
}

/**
 * Downloads a model and shows the progress. If `signal` aborts, prints how to resume and throws an abort error;
 * otherwise throws a `HiError`.
 */
async function pullModel({ world, member, settings }: Puller, name: string, signal: AbortSignal): Promise<void> {
  const line = new ProgressLine(world, { after: 0 });
  const startedAt = monotonic();
  let [progress, began]: [PullProgress, number | null] = [{ done: 0, all: null }, null];
  try {
    for await (progress of stepsOf({ world, member, settings }, name, signal)) {
      if (progress.all !== null) began ??= progress.done;
      const speed = { began: began ?? 0, elapsed: monotonic() - startedAt };
      line.show((columns) => downloadText(name, progress, speed, columns));
    }
    line.erase();
    const size = progress.all === null ? '' : `: ${sizeText(progress.all)} in ${shortTime(monotonic() - startedAt)}`;
    world.stderr.write(`Downloaded ${name}${size}.\n`);
  } catch (thrown) {
    line.erase();
    if (signal.aborted) world.stderr.write(`${stoppedText(name, progress)}\n`);
    throw thrown;
  } finally {
    line.erase();
  }
}

/**
 * The size of a model in bytes, which the server reports at the start of a download; null if the model is already
 * there.
 */
async function downloadSize(puller: Puller, name: string, signal: AbortSignal): Promise<number | null> {
  const known = new AbortController();
  for await (const { done, all } of stepsOf(puller, name, AbortSignal.any([signal, known.signal]))) {
    if (all === null) continue;
    known.abort();
    return done >= all ? null : all;
  }
  return null;
}

function stepsOf({ member, settings }: Puller, name: string, signal: AbortSignal): AsyncIterable<PullProgress> {
  if (member.pull === undefined) throw new HiError('usage', `${member.title} cannot download models.`);
  return member.pull(settings, name, signal);
}

function stoppedText(name: string, { done, all }: PullProgress): string {
  const at = all === null ? '' : ` at ${percent(done / all)}`;
  return `The download of ${name} was stopped${at}. What was downloaded is kept, and the next download resumes there.`;
}

const MOST_CELLS = 24;
/** How long the start of a download says nothing about its speed, in milliseconds. */
const SETTLING = 1000;

/** The progress of a download on one line: a bar, the share, the size, the speed and the remaining time. */
export function downloadText(
  name: string,
  { done, all }: PullProgress,
  { began, elapsed }: { readonly began: number; readonly elapsed: number },
  columns: number,
): string {
  if (all === null) return `Downloading ${name} …`;
  if (done >= all) return `Checking ${name} …`;
  const share = done / all;
  const speed = elapsed < SETTLING ? 0 : (1000 * (done - began)) / elapsed;
  const figures = [
    percent(share),
    `${sizeText(done)} of ${sizeText(all)}`,
    ...(speed > 0 ? [`${sizeText(speed)}/s`, `${shortTime((1000 * (all - done)) / speed)} left`] : []),
  ].join(' · ');
  const words = `Downloading ${name} `;
  const cells = Math.min(MOST_CELLS, columns - words.length - figures.length - 3);
  return `${words}${cells < 4 ? '' : `${bar(share, cells)} `}${figures}`;
}

function bar(share: number, cells: number): string {
  const filled = Math.floor(share * cells);
  return `▕${'█'.repeat(filled)}${'░'.repeat(cells - filled)}▏`;
}
