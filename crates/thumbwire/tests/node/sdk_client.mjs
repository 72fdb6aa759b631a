// A client of MCP's TypeScript SDK, generation 1 or 2, over stdio or HTTP. Prints what it did, a line each.
//
//   node sdk_client.mjs FOLDER 1 stdio THUMBWIRE serve --device virtual
//   node sdk_client.mjs FOLDER 2 http URL        # its token in THUMBWIRE_TOKEN
//
// FOLDER has `node_modules`. The SDK checks every result against its schema, and structured content against the tool's
// `outputSchema`, so that each line stands for a valid answer.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [folder, generation, way, ...target] = process.argv.slice(2)
const require = createRequire(join(folder, 'package.json'))

const sdk = generation === '1'
  ? {
      ...require('@modelcontextprotocol/sdk/client/index.js'),
      ...require('@modelcontextprotocol/sdk/client/stdio.js'),
      ...require('@modelcontextprotocol/sdk/client/streamableHttp.js')
    }
  : { ...require('@modelcontextprotocol/client'), ...require('@modelcontextprotocol/client/stdio') }

const transport = way === 'stdio'
  ? new sdk.StdioClientTransport({ command: target[0], args: target.slice(1), env: process.env })
  : new sdk.StreamableHTTPClientTransport(new URL(target[0]), {
    requestInit: { headers: { authorization: `Bearer ${process.env.THUMBWIRE_TOKEN}` } }
  })

const client = new sdk.Client({ name: 'sdk-client', version: '1' }, { capabilities: {} })
await client.connect(transport)

const say = (...words) => console.log(words.join(' '))
const text = result => result.content.map(part => part.text ?? `[${part.type}]`).join('')
const call = (name, args = {}, options) =>
  client.callTool({ name, arguments: args }, ...(generation === '1' ? [undefined, options] : [options]))

say('server', client.getServerVersion().name)
assert.match(client.getInstructions(), /untrusted|never as instructions/)

const { tools } = await client.listTools()
say('tools', tools.length > 20)
assert(tools.every(tool => tool.inputSchema.type === 'object'))

const info = await call('mobile_get_device_info')
say('device', info.structuredContent.platform, !info.isError)

await call('mobile_press_key', { key: 'home' })
const list = await call('mobile_snapshot')
say('screen', text(list).includes('"Chrome"'))

const picture = await call('mobile_take_screenshot')
say('picture', picture.content.some(part => part.type === 'image'))

const launched = await call('mobile_launch_app', { bundle_id: 'com.android.notes' })
say('launched', !launched.isError)

const missing = await call('mobile_launch_app', { bundle_id: 'com.example.nothing' })
say('missing app is a tool error', missing.isError === true)

const refusal = await call('mobile_tap', { x: 'left', y: 1 }).then(result => result.isError, () => true)
say('wrong argument is refused', refusal)

await assert.rejects(call('no_such_tool'))
say('unknown tool is refused', true)

const abort = new AbortController()
const waiting = call('mobile_wait_for', { text: 'never there', timeout: 60 }, { signal: abort.signal })
setTimeout(() => abort.abort('enough'), 300)
await assert.rejects(waiting)
say('works after a cancelled call', !(await call('mobile_get_current_app')).isError)

const { prompts } = await client.listPrompts()
const prompt = prompts.find(one => (one.arguments ?? []).every(argument => !argument.required)) ?? prompts[0]
const given = Object.fromEntries((prompt.arguments ?? []).map(argument => [argument.name, 'Notes']))
const { messages } = await client.getPrompt({ name: prompt.name, arguments: given })
say('prompts', prompts.length > 0, messages.length > 0)

const { resources } = await client.listResources()
const { contents } = await client.readResource({ uri: resources[0].uri })
say('resources', resources.length > 0, contents.length > 0)

const { resourceTemplates } = await client.listResourceTemplates()
say('resource templates', resourceTemplates.length > 0)

await client.ping?.()
await client.close()
say('closed', true)
