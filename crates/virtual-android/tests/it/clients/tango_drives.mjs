// Tango (`@yume-chan/adb`) drives a phone: `tango_drives.mjs ADDRESS all|core RELEASE APKS`. Asserts its results.

import assert from 'node:assert/strict'
import { AdbServerClient } from '@yume-chan/adb'
import { AdbServerNodeTcpConnector } from '@yume-chan/adb-server-node-tcp'

const [address, , release] = process.argv.slice(2)
const port = Number(process.env.ANDROID_ADB_SERVER_PORT)
const client = new AdbServerClient(new AdbServerNodeTcpConnector({ host: '127.0.0.1', port }))
const adb = await client.createAdb({ serial: address })

assert.equal(await adb.getProp('ro.build.version.sdk'), { 9: '28', 14: '34', 16: '36' }[release])
const shell = adb.subprocess.shellProtocol
assert.ok(shell)
const ran = await shell.spawnWaitText(['sh', '-c', "'echo out; echo err >&2; exit 5'"])
assert.deepEqual([ran.stdout, ran.stderr, ran.exitCode], ['out\n', 'err\n', 5])
const png = await adb.subprocess.noneProtocol.spawnWait('screencap -p')
assert.deepEqual([...png.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47])

const sync = await adb.sync()
const data = new Uint8Array(1_000_000).map((_, at) => at % 251)
await sync.write({
  filename: '/data/local/tmp/data',
  file: new ReadableStream({ start: (to) => (to.enqueue(data), to.close()) }),
  permission: 0o644,
  mtime: 981173106,
})
const stat = await sync.lstat('/data/local/tmp/data')
assert.deepEqual([Number(stat.size), Number(stat.mtime), stat.permission], [data.length, 981173106, 0o666])
assert.ok((await sync.readdir('/data/local/tmp')).some((entry) => entry.name === 'data'))
const chunks = []
for await (const chunk of sync.read('/data/local/tmp/data')) chunks.push(chunk)
assert.ok(Buffer.concat(chunks).equals(Buffer.from(data)))
await sync.dispose()

await adb.close()
process.exit(0)
