// The same question with Ollama's SDK alone, for comparison. The argument is the server's address.
import { Ollama } from 'ollama';

const client = new Ollama({ host: process.argv[2] ?? '' });
const stream = await client.chat({ model: 'm', messages: [{ role: 'user', content: 'hello' }], stream: true });
for await (const chunk of stream) process.stdout.write(chunk.message.content);
