import { monotonic } from '../../clock.js';
import { HiError } from '../../errors.js';
import type { ProviderSettings, PullProgress } from '../../providers/common/provider.js';
import { shortTime } from '../../screen/print.js';
import { ProgressLine } from '../base/progress-line.js';
import type { EmptyServer } from '../base/settings.js';
import type { World } from '../base/world.js';
import { bytesText, downloadText } from './download-text.js';

/** What a download needs. */
export interface Puller {
  readonly world: World;
  readonly member: EmptyServer['member'];
  readonly settings: ProviderSettings;
}

/** Downloads a model and shows the progress. If `signal` aborts, prints how to resume and throws an abort error; otherwise throws a `HiError`. */
export async function pullModel({ world, member, settings }: Puller, name: string, signal: AbortSignal): Promise<void> {
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
    const size = progress.all === null ? '' : `: ${bytesText(progress.all)} in ${shortTime(monotonic() - startedAt)}`;
    world.stderr.write(`Downloaded ${name}${size}.\n`);
  } catch (thrown) {
    line.erase();
    if (signal.aborted) world.stderr.write(`${stoppedText(name, progress)}\n`);
    throw thrown;
  } finally {
    line.erase();
  }
}

/** The size of a model in bytes, which the server reports at the start of a download; null if the model is already there. */
export async function downloadSize(puller: Puller, name: string, signal: AbortSignal): Promise<number | null> {
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
  const at = all === null ? '' : ` at ${Math.floor((100 * done) / all)} %`;
  return `The download of ${name} was stopped${at}. What was downloaded is kept, and the next download resumes there.`;
}
