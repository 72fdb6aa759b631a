// A host of MCP Apps around the official `AppBridge` (ext-apps): starts a server over stdio, and serves a page that
// shows the app of `mobile_show_phone` as a chat does: in a sandboxed frame that may load nothing. Prints the page's
// address; ends when its standard input ends. The page keeps in `seen` what the app told it.
//
//   node app_host.mjs FOLDER THUMBWIRE serve --device virtual
//
// FOLDER has `node_modules`.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { extname, join, normalize } from 'node:path'

const [folder, ...server] = process.argv.slice(2)
const require = createRequire(join(folder, 'package.json'))
const { Client } = require('@modelcontextprotocol/client')
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio')

const MIME = 'text/html;profile=mcp-app'
const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: [MIME] } }
const client = new Client({ name: 'app-host', version: '1' }, { capabilities: { extensions } })
await client.connect(new StdioClientTransport({ command: server[0], args: server.slice(1), env: process.env }))

const { tools } = await client.listTools()
const shown = tools.find(tool => tool.name === 'mobile_show_phone')
const { contents: [app] } = await client.readResource({ uri: shown._meta.ui.resourceUri })
assert.equal(app.mimeType, MIME)
/** What the app may call (SEP-1865): tools whose visibility includes it. */
const ofApp = name => (tools.find(tool => tool.name === name)?._meta?.ui?.visibility ?? ['model', 'app']).includes('app')

const MODULES = {
  '@modelcontextprotocol/ext-apps/app-bridge': '@modelcontextprotocol/ext-apps/dist/src/app-bridge.js',
  '@modelcontextprotocol/client': '@modelcontextprotocol/client/dist/index.mjs',
  '@modelcontextprotocol/client/_shims': '@modelcontextprotocol/client/dist/shimsBrowser.mjs',
  '@modelcontextprotocol/core': '@modelcontextprotocol/core/dist/index.mjs',
  '@modelcontextprotocol/core/internal': '@modelcontextprotocol/core/dist/internal.mjs',
  'zod/v4': 'zod/v4/index.js',
  'pkce-challenge': 'pkce-challenge/dist/index.browser.js',
  eventsource: 'eventsource/dist/index.js',
  'eventsource-parser': 'eventsource-parser/dist/index.js',
  'eventsource-parser/stream': 'eventsource-parser/dist/stream.js'
}
const imports = Object.fromEntries(Object.entries(MODULES).map(([name, path]) => [name, `/modules/${path}`]))

const PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Chat</title>
<style>body { margin: 20px; font: 16px system-ui } iframe { width: 100%; border: 1px solid #8888; border-radius: 8px }</style></head><body>
<main><h1>Chat</h1><iframe id="app" title="Phone" sandbox="allow-scripts"></iframe></main>
<script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'
const seen = window.seen = { contexts: [], calls: [] }
const call = window.call = async params => (await fetch('/call', { method: 'POST', body: JSON.stringify(params) })).json()
const frame = document.getElementById('app')
const context = { theme: 'light', displayMode: 'inline', containerDimensions: { maxHeight: 620 } }
const bridge = window.bridge = new AppBridge(null, { name: 'app-host', version: '1' }, { serverTools: {}, updateModelContext: { text: {} } }, { hostContext: context })
bridge.oncalltool = params => { seen.calls.push(params.name); return call({ ...params, isApp: true }) }
bridge.onupdatemodelcontext = async ({ content }) => { seen.contexts.push(content.map(part => part.text).join('')); return {} }
bridge.onsizechange = ({ height }) => { frame.style.height = height + 2 + 'px' }
bridge.oninitialized = async () => {
  await bridge.sendToolInput({ arguments: {} })
  bridge.sendToolResult(await call({ name: 'mobile_show_phone', arguments: {} }))
}
await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow))
frame.src = '/app'
</script></body></html>`

const CSP = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; sandbox allow-scripts"

async function answer (request) {
  if (request.url === '/') return ['text/html', PAGE]
  if (request.url === '/app') return ['text/html', app.text, { 'content-security-policy': CSP }]
  if (request.url === '/call') {
    let body = ''
    for await (const part of request) body += part
    const { name, arguments: values, isApp } = JSON.parse(body)
    assert(!isApp || ofApp(name), `the app may not call ${name}`)
    return ['application/json', JSON.stringify(await client.callTool({ name, arguments: values }))]
  }
  const path = normalize(request.url).replace(/^\/modules\//, '')
  assert(['.js', '.mjs'].includes(extname(path)) && !path.includes('..'), request.url)
  return ['text/javascript', await readFile(join(folder, 'node_modules', path))]
}

const http = createServer(async (request, response) => {
  try {
    const [type, body, headers] = await answer(request)
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8`, ...headers }).end(body)
  } catch (error) {
    response.writeHead(404).end(String(error))
  }
})
http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/`))
process.stdin.on('end', () => process.exit(0)).resume()
