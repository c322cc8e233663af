import type { Salvage } from './salvage.js';

/** The code that recovers damaged files is needed but not loaded yet. */
class SalvageNotLoaded extends Error {}

let loaded: typeof Salvage | null = null;

/** Loads the code that recovers damaged files, which most runs do not need. */
export async function loadSalvage(): Promise<void> {
  loaded = (await import('./salvage.js')).Salvage;
}

/**
 * The code that recovers damaged files. Throws `SalvageNotLoaded` before `loadSalvage`, so call it before changing
 * anything.
 */
export function loadedSalvage(): typeof Salvage {
  if (loaded === null) throw new SalvageNotLoaded('The code that recovers damaged files is not loaded.');
  return loaded;
}

/**
 * Runs `work`, and again with the code that recovers damaged files if it needs that. It must not change anything before
 * it needs it.
 */
export async function withSalvage<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof SalvageNotLoaded)) throw thrown;
    await loadSalvage();
    return await work();
  }
}
