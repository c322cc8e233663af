import type { Salvage } from './salvage.js';

/** The code that recovers damaged files was asked for before it was loaded. */
class SalvageNotLoaded extends Error {}

let loaded: typeof Salvage | null = null;

/** Loads the code that recovers damaged files, which few runs need. */
export async function loadSalvage(): Promise<void> {
  loaded = (await import('./salvage.js')).Salvage;
}

/** What recovers damaged files. Throws `SalvageNotLoaded` before `loadSalvage`; ask before anything is changed. */
export function loadedSalvage(): typeof Salvage {
  if (loaded === null) throw new SalvageNotLoaded('The code that recovers damaged files is not loaded.');
  return loaded;
}

/** Runs `work`, and once more with the code that recovers damaged files where it asks for that. It asks before it changes anything. */
export async function withSalvage<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof SalvageNotLoaded)) throw thrown;
    await loadSalvage();
    return await work();
  }
}
