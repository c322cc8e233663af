import { textBlock } from '../../chat/marked-text.js';
import { estimateTokens, type TextCache, type TextModel } from '../../chat/request.js';
import { shortCount } from '../../chat/transcript.js';
import type { FoundSkill } from '../find/describe-skill.js';
import { compressSkill, knownForm, TARGET_RATIO } from './compress-skill.js';
import { cutAtHeading } from './cut-at-heading.js';

/** A skill and its text. */
export interface Active {
  readonly skill: FoundSkill;
  readonly body: string;
}

/** A skill as the model reads it. Names the skill's folder, because the text may refer to files in it. */
export function skillBlockOf({ skill, body }: Active): string {
  const { name, folder } = skill;
  return textBlock('skill', { name, ...(folder !== null && { folder }) }, body);
}

/** The limits of a shortened skill. */
export interface ShortForm {
  /** The most tokens it may take. */
  readonly most: number;
  /** The tool that reads files for the model; null when it has none. */
  readonly reader: string | null;
}

/** Makes skills shorter. */
export interface Shortener {
  /**
   * The skill compressed by the model, and cut if that fails or the result still exceeds `most` tokens.
   * Rejects only when `signal` aborts. After a failure the model is not asked for that skill again until `retry`, and after three failures not at all.
   */
  shorten(active: Active, form: ShortForm, signal: AbortSignal): Promise<Active>;
  /** Like `shorten`, without asking the model: the skill stays whole if it was neither compressed nor cut before. */
  known(active: Active, form: ShortForm): Promise<Active>;
  retry(): void;
  /** One sentence for the user about each skill that was cut. */
  readonly cuts: readonly string[];
}

/** After this many failures the model is not asked again: each attempt may take a minute. */
const MAX_FAILURES = 3;

/** A shortener that asks this model, if any, and caches the results. */
export function createShortener(model: (() => Promise<TextModel>) | null, cache: TextCache): Shortener {
  /** The number of failures by skill, and the skills that failed since `retry`. */
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
      else cuts.set(name, describeCut(active, sent, shorter !== null));
      return sent;
    },
    async known(active, form) {
      const shorter = await knownForm(active.body, cache);
      return shorter === null && !failed.has(active.skill.name) ? active : atMost(active, shorter, form);
    },
    retry() {
      for (const name of failed) if ((failures.get(name) ?? 0) < MAX_FAILURES) failed.delete(name);
    },
    get cuts() {
      return [...cuts.values()];
    },
  };
}

/** The skill in its shorter form, if there is one, cut to at most `most` tokens. */
function atMost({ skill, body }: Active, shorter: string | null, { most, reader }: ShortForm): Active {
  const limit = Math.min(most, estimateTokens(body.length) * (shorter === null ? TARGET_RATIO : 1));
  const source = reader === null ? null : { path: skill.path, reader };
  return { skill, body: cutAtHeading(shorter ?? body, limit * 4, source) };
}

function describeCut({ skill, body }: Active, sent: Active, isCompressed: boolean): string {
  const why = isCompressed ? 'is too large even when compressed' : 'could not be compressed';
  const size = `${shortCount(sent.body.length)} of ${shortCount(body.length)} characters`;
  return `The skill '${skill.name}' ${why}: only its beginning is sent (${size}). Shorten or split ${skill.path}`;
}
