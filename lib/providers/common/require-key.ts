import type { Vendor } from '../../chat/model.js';
import { HiError } from '../../errors.js';
import type { ProviderSettings } from './provider.js';

/** The key. Throws a `HiError` that says where to get one if it is missing. */
export function requireKey(
  member: Pick<Vendor, 'title' | 'keyVariables' | 'keyPage'>,
  settings: ProviderSettings,
): string {
  if (settings.apiKey !== null) return settings.apiKey;
  throw new HiError('config', `There is no API key for ${member.title}.`, {
    hint: `Set ${member.keyVariables[0] ?? 'HI_API_KEY'}, put api_key into config.json, or run 'hi config init'. Keys: ${member.keyPage ?? member.title}`,
  });
}
