import { distinctive } from './mask-secrets.js';
import { LOGIN_START } from './paths/address-logins.js';
import { maskedForms } from './secret-forms.js';

/** How every shape of key begins; what follows is a word. */
const SHAPE_START =
  /(?<![A-Za-z0-9])(?:sk-|AIza|ya29\.|gh[pousr]_|github_pat_|glpat-|AKIA|ASIA|xox[abprs]-|hf_|npm_|pypi-|[rs]k_live_|SG\.|gsk_|xai-|AGE-SECRET-KEY-|eyJ)[A-Za-z0-9_.-]*$/;

/** A private key goes from here to there. */
const BLOCK_START = '-----BEGIN ';
const BLOCK_END = /-----END [A-Z ]{0,40}-----/;

/** No key is longer, nor is a private key with its lines. */
const MAX_WORD = 2048;
const MAX_BLOCK = 32 * 1024;

/**
 * Masks a text that arrives in pieces, cut anywhere: what may be the beginning of a secret waits for what follows. `shapes` where texts of
 * a known shape of key are masked too.
 */
export class SecretStream {
  readonly #mask: (text: string) => string;
  readonly #forms: readonly string[];
  readonly #shapes: boolean;
  #pending = '';

  constructor(mask: (text: string) => string, secrets: readonly string[], shapes: boolean) {
    this.#mask = mask;
    this.#forms = distinctive(secrets).flatMap(maskedForms);
    this.#shapes = shapes;
  }

  push(piece: string): string {
    const text = this.#pending + piece;
    const waiting = this.#waiting(text);
    this.#pending = text.slice(text.length - waiting);
    return this.#mask(text.slice(0, text.length - waiting));
  }

  /** Returns what still waits when no more text comes. */
  end(): string {
    const rest = this.#mask(this.#pending);
    this.#pending = '';
    return rest;
  }

  /** How many characters at the end may be the beginning of a secret. */
  #waiting(text: string): number {
    const own = this.#forms.reduce((longest, form) => Math.max(longest, beginningAtEnd(text, form)), 0);
    const rest = this.#afterWhole(text, own);
    return this.#shapes ? Math.max(rest, shapeAtEnd(text)) : rest;
  }

  /** A whole secret is not cut, though its end may be the beginning of another one. */
  #afterWhole(text: string, waiting: number): number {
    if (waiting === 0) return 0;
    const cut = text.length - waiting;
    for (const form of this.#forms) {
      const at = text.indexOf(form, Math.max(0, cut - form.length + 1));
      if (at !== -1 && at < cut) return text.length - at - form.length;
    }
    return waiting;
  }
}

/** The length of the longest end of the text that the secret begins with. */
function beginningAtEnd(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(secret.slice(0, length))) return length;
  return 0;
}

function shapeAtEnd(text: string): number {
  const block = text.lastIndexOf(BLOCK_START);
  if (block !== -1 && text.length - block < MAX_BLOCK && !BLOCK_END.test(text.slice(block))) return text.length - block;
  const dashes = beginningAtEnd(text, BLOCK_START);
  if (dashes >= 5) return dashes;
  const end = text.slice(-MAX_WORD);
  return Math.max(SHAPE_START.exec(end)?.[0].length ?? 0, LOGIN_START.exec(end)?.[0].length ?? 0);
}
