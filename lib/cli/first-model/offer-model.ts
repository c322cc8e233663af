import { capitalised } from '../../chat/text.js';
import { readKey } from '../../config/read-key.js';
import { HiError, isAbort } from '../../errors.js';
import { errorText } from '../../screen/print.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import { type EmptyServer, idleTimeout } from '../base/settings.js';
import type { World } from '../base/world.js';
import type { Prompts } from '../terminal/prompts.js';
import { bytesText } from './download-text.js';
import { downloadSize, type Puller, pullModel } from './pull-model.js';

/** How long a server may process a finished download, in milliseconds. */
const TIME_LIMIT = 10 * 60_000;

const OTHER = 'another model';

/**
 * Asks which model a server without one should download, and downloads it. Resolves to its name, or null if the user wants none; `otherwise`
 * is the label of that choice. Throws an abort error if the user leaves.
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
          ({ name, bytes, summary }) => [`=${name}`, `${name}: ${bytesText(bytes)}, ${summary}`] as const,
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
    const answer = await prompts.select(`${visibleLine(name)} has ${bytesText(bytes)}. Download it?`, [
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
