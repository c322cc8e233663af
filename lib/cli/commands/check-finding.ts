import { HiError } from '../../errors.js';

/** The result of one check: it passed, it failed and how to fix it, or something worth knowing. */
export type Finding = { readonly part: string } & (
  | { readonly ok: string }
  | { readonly failure: HiError }
  | { readonly note: string }
);

/** Runs a check; what it resolves to is said when it passes. */
export async function checkPart(part: string, check: () => Promise<string>): Promise<Finding> {
  const result = await attempt(part, check);
  return 'failure' in result ? result : { part, ok: result.value };
}

/** What `make` resolves to, or the `HiError` it throws as a finding. */
export async function attempt<Value>(
  part: string,
  make: () => Promise<Value>,
): Promise<{ readonly part: string; readonly failure: HiError } | { readonly value: Value }> {
  try {
    return { value: await make() };
  } catch (thrown) {
    if (thrown instanceof HiError) return { part, failure: thrown };
    throw thrown;
  }
}
