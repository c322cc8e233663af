import type { TextCache, TextModel } from '../../chat/text-model.js';
import { estimateTokens } from '../../chat/tokens.js';
import { shortCount } from '../../chat/transcript.js';
import type { FoundSkill } from '../find/describe-skill.js';
import { compressSkill, knownForm, TARGET_RATIO } from './compress-skill.js';
import { cutAtHeading } from './cut-at-heading.js';

/** A skill with its text. */
export interface Active {
  readonly skill: FoundSkill;
  readonly body: string;
}

/** How a skill is put before the model. Its folder is named, for its text may refer to files beside it. */
export function skillBlockOf({ skill, body }: Active): string {
  const folder = skill.folder === null ? '' : ` folder=${JSON.stringify(skill.folder)}`;
  return `<skill name=${JSON.stringify(skill.name)}${folder}>\n${body}\n</skill>`;
}

/** How short a skill has to be, and for whom. */
export interface ShortForm {
  /** In tokens. */
  readonly most: number;
  /** The tool with which the model can read the whole text; null when it has none. */
  readonly reader: string | null;
}

/** Makes skills shorter. */
export interface Shortener {
  /**
   * The skill compressed by the model; where that fails, or is still above `most` tokens, cut.
   * Rejects only when `signal` aborts. After a failure the model is not asked for that skill again until `retry`, and after three of them not at all.
   */
  shorten(active: Active, form: ShortForm, signal: AbortSignal): Promise<Active>;
  /** The same where it asks nobody: compressed or cut before. The skill as it is otherwise. */
  known(active: Active, form: ShortForm): Promise<Active>;
  retry(): void;
  /** What the user should know of the skills that are cut, one sentence each. */
  readonly cuts: readonly string[];
}

/** So many failures and the model is left alone: one that does not answer costs a minute each time. */
const ENOUGH = 3;

/** A shortener that asks this model, if there is one, and keeps what it wrote in this cache. */
export function createShortener(model: (() => Promise<TextModel>) | null, cache: TextCache): Shortener {
  /** How often the model has failed, by skill, and the skills it has failed for since `retry`. */
  const failures = new Map<string, number>();
  const failed = new Set<string>();
  const cuts = new Map<string, string>();

  const compressed = async ({ skill, body }: Active, signal: AbortSignal): Promise<string | null> => {
    if (model === null || failed.has(skill.name)) return null;
    try {
      return await compressSkill(skill, body, model, cache, signal);
    } catch {
      signal.throwIfAborted();
      failed.add(skill.name);
      failures.set(skill.name, (failures.get(skill.name) ?? 0) + 1);
      return null;
    }
  };

  return {
    async shorten(active, form, signal) {
      const shorter = await compressed(active, signal);
      const sent = atMost(active, shorter, form);
      const { name } = active.skill;
      if (sent.body === shorter) cuts.delete(name);
      else cuts.set(name, sayCut(active, sent, shorter !== null));
      return sent;
    },
    async known(active, form) {
      const shorter = await knownForm(active.body, cache);
      return shorter === null && !failed.has(active.skill.name) ? active : atMost(active, shorter, form);
    },
    retry() {
      for (const name of failed) if ((failures.get(name) ?? 0) < ENOUGH) failed.delete(name);
    },
    get cuts() {
      return [...cuts.values()];
    },
  };
}

/** The skill in its shorter form, or cut where there is none, in at most so many tokens. */
function atMost({ skill, body }: Active, shorter: string | null, { most, reader }: ShortForm): Active {
  const limit = Math.min(most, estimateTokens(body.length) * (shorter === null ? TARGET_RATIO : 1));
  const source = reader === null ? null : { path: skill.path, reader };
  return { skill, body: cutAtHeading(shorter ?? body, limit * 4, source) };
}

function sayCut({ skill, body }: Active, sent: Active, isCompressed: boolean): string {
  const why = isCompressed ? 'is too large even when compressed' : 'could not be compressed';
  const size = `${shortCount(sent.body.length)} of ${shortCount(body.length)} characters`;
  return `The skill '${skill.name}' ${why}: only its beginning is sent (${size}). Shorten or split ${skill.path}`;
}
