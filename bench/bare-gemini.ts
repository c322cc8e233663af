// The same question with Google's SDK alone, for comparison. The argument is the server's address.
import { GoogleGenAI } from '@google/genai';

const client = new GoogleGenAI({ apiKey: 'sk-bench', httpOptions: { baseUrl: process.argv[2] ?? '' } });
const stream = await client.models.generateContentStream({ model: 'm', contents: 'hello' });
for await (const chunk of stream) process.stdout.write(chunk.text ?? '');
