import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { chatgptConversation, type Talk } from '../spec/support/exports.js';
import { prose } from '../spec/support/prose.js';

/** The size of the export: its conversations, the messages in each, and the characters of one. */
const CONVERSATIONS = 15_000;
const MESSAGES = 20;
const CHARACTERS = 1250;

/** The conversations in one file, and those with a picture, of so many bytes. */
const IN_A_FILE = 1000;
const PICTURED = 5;
const PICTURE = 140_000;

/** The number of messages of the user and the model in the export. */
export const EXPORTED = CONVERSATIONS * MESSAGES;

/**
 * Writes an export of ChatGPT as it is unpacked: numbered parts with abandoned branches and hidden messages, and
 * pictures beside them. Returns its size in bytes.
 */
export function writeExport(folder: string): number {
  mkdirSync(folder);
  let size = 0;
  for (let first = 0; first < CONVERSATIONS; first += IN_A_FILE) {
    const number = String(first / IN_A_FILE).padStart(3, '0');
    const file = openSync(join(folder, `conversations-${number}.json`), 'w');
    for (let index = first; index < first + IN_A_FILE; index += 1) {
      size += writeSync(file, `${index === first ? '[' : ','}${JSON.stringify(conversation(index))}`);
      if (index % PICTURED === 0) size += writePicture(folder, index);
    }
    size += writeSync(file, ']');
    closeSync(file);
  }
  return size;
}

function conversation(index: number): object {
  const begin = 1.6e9 + index * 10_000;
  const lines = Array.from({ length: MESSAGES }, (_, place): Talk['lines'][number] => ({
    role: place % 2 ? 'assistant' : 'user',
    text: prose(CHARACTERS, index * MESSAGES + place),
    at: begin + place * 60,
  }));
  const plain = chatgptConversation({ id: `conversation-${index}`, title: `Talk ${index}`, lines });
  if (index % PICTURED !== 0) return plain;
  const picture = { content_type: 'image_asset_pointer', asset_pointer: `file-service://${pictureOf(index)}` };
  const message = { id: `pictured-${index}`, author: { role: 'user' }, create_time: begin + 5000 };
  const content = { content_type: 'multimodal_text', parts: [picture, 'What is this?'] };
  const last = { id: 'pictured', parent: `n${MESSAGES - 1}`, message: { ...message, content } };
  const mapping = 'mapping' in plain && typeof plain.mapping === 'object' ? plain.mapping : {};
  return { ...plain, mapping: { ...mapping, pictured: last }, current_node: 'pictured' };
}

const pictureOf = (index: number): string => `file-picture${index}`;

function writePicture(folder: string, index: number): number {
  const bytes = Buffer.alloc(PICTURE, prose(5000, index));
  bytes.write('89504e470d0a1a0a0000000d49484452', 'hex');
  bytes.writeUInt32BE(640, 16);
  bytes.writeUInt32BE(480, 20);
  writeFileSync(join(folder, `${pictureOf(index)}-photo.png`), bytes);
  return bytes.length;
}
