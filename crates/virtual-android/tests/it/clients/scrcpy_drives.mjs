// Tango's client of scrcpy's protocol (`@yume-chan/scrcpy`) drives a phone: `scrcpy_drives.mjs ADDRESS 1|3 SERVER`, with the releases 1.20
// and 1.24, or 3.3.3 and 3.3.4. SERVER is a scrcpy-server 3.3.4, and /data/local/tmp/VERSION.jar stands for those of other releases. Asserts its results.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { AdbServerClient } from '@yume-chan/adb'
import { AdbServerNodeTcpConnector } from '@yume-chan/adb-server-node-tcp'
import { AdbScrcpyClient, AdbScrcpyExitedError, AdbScrcpyOptions1_20, AdbScrcpyOptions1_24, AdbScrcpyOptions3_3_3 } from '@yume-chan/adb-scrcpy'
import { AndroidKeyCode, AndroidKeyEventAction, AndroidMotionEventAction, ScrcpyPointerId } from '@yume-chan/scrcpy'

const [address, mode, server] = process.argv.slice(2)
const port = Number(process.env.ANDROID_ADB_SERVER_PORT)
const connector = new AdbServerNodeTcpConnector({ host: '127.0.0.1', port })
const adb = await new AdbServerClient(connector).createAdb({ serial: address })

const dump = () => adb.subprocess.noneProtocol.spawnWaitText('uiautomator dump /dev/tty')
const pause = (ms) => new Promise((done) => setTimeout(done, ms))
async function middle(name) {
  const node = new RegExp(`<node[^>]*(?:text|content-desc)="${name}"[^>]*bounds="\\[(\\d+),(\\d+)\\]\\[(\\d+),(\\d+)\\]"`)
  for (let tries = 0; tries < 400; tries++) {
    const found = (await dump()).match(node)
    if (found) return { x: (+found[1] + +found[3]) / 3, y: (+found[2] + +found[4]) / 3 }
    await pause(50)
  }
  assert.fail(`no ${name} on the screen`)
}

async function drive(version, path, options, has) {
  if (has.push) {
    const file = await readFile(server)
    await AdbScrcpyClient.pushServer(adb, new ReadableStream({ start: (to) => (to.enqueue(file), to.close()) }), path)
  }
  const client = await AdbScrcpyClient.start(adb, path, options)
  client.output.pipeTo(new WritableStream()).catch(() => {})
  const video = await client.videoStream
  assert.equal(video.metadata.deviceName, 'Virtual Pixel', version)
  assert.deepEqual([video.metadata.width, video.metadata.height], [360, 800], version)
  const frames = video.stream.getReader()
  const config = await frames.read()
  assert.equal(config.value.type, 'configuration', version)
  assert.deepEqual([video.width, video.height], [360, 800], `${version}: what the parameter sets say`)
  const first = (await frames.read()).value
  assert.deepEqual([first.type, first.keyframe], ['data', has.keyFlag ? true : undefined], version)
  // Pictures after this one, counted as they come.
  let seen = 0
  let last = first.pts
  const watch = async () => {
    for (;;) {
      const { done, value } = await frames.read()
      if (done) return
      if (value.type === 'data') {
        assert.ok(value.pts > last, `${version}: times rise`)
        last = value.pts
      }
      // A picture of a few bytes repeats the one before.
      if (value.data.byteLength > 16) seen += 1
    }
  }
  // It ends with the connection.
  watch().catch(() => {})
  const shows = async (act) => {
    const before = seen
    await act()
    for (let tries = 0; seen === before; tries++) {
      assert.ok(tries < 2000, `${version}: a new picture`)
      await pause(10)
    }
  }
  const touch = async (action, { x, y }, pointerId = ScrcpyPointerId.Finger) => {
    const place = { pointerX: Math.round(x), pointerY: Math.round(y), videoWidth: 360, videoHeight: 800 }
    await client.controller.injectTouch({ action, pointerId, ...place, pressure: 1, actionButton: 0, buttons: 0 })
  }
  const tap = async (name) => {
    const at = await middle(name)
    await touch(AndroidMotionEventAction.Down, at)
    await touch(AndroidMotionEventAction.Up, at)
  }
  await shows(() => tap('Notes'))
  await shows(() => tap('New note'))
  await shows(() => client.controller.injectText(`By Tango ${version}`))
  while (!(await dump()).includes(`By Tango ${version}`)) await pause(50)
  // Tango's message for 1.20 lacks a field.
  const clipboard = has.ack ? client.clipboard.getReader() : undefined
  if (clipboard) {
    await client.controller.setClipboard({ sequence: 7n, content: 'Grüße', paste: true })
    while (!(await dump()).includes('Grüße')) await pause(50)
    await adb.subprocess.noneProtocol.spawnWait(['input', 'keyevent', 'COPY'])
    assert.ok((await clipboard.read()).value.includes('Grüße'), `${version}: what is copied on the phone arrives`)
  }
  if (has.audio) assert.equal((await client.audioStream).type, 'disabled', version)
  if (has.reset) await shows(() => client.controller.resetVideo())
  const keyCode = AndroidKeyCode.AndroidHome
  await shows(() => client.controller.injectKeyCode({ action: AndroidKeyEventAction.Down, keyCode, repeat: 0, metaState: 0 }))
  await adb.subprocess.noneProtocol.spawnWait(['am', 'force-stop', 'com.android.notes'])
  await client.close()
}

const small = { maxSize: 800, maxFps: 60 }
const stub = (version) => `/data/local/tmp/${version}.jar`
const has = { keyFlag: true, ack: true, reset: true }
if (mode === '1') {
  await drive('1.20', stub('1.20'), new AdbScrcpyOptions1_20(small), {})
  await drive('1.24', stub('1.24'), new AdbScrcpyOptions1_24({ ...small, tunnelForward: true }), { keyFlag: true, ack: true })
} else {
  await drive('3.3.3', stub('3.3.3'), new AdbScrcpyOptions3_3_3(small), { ...has, audio: true })
  const latest = new AdbScrcpyOptions3_3_3({ ...small, audio: false, tunnelForward: true, scid: '00abcdef' }, { version: '3.3.4' })
  await drive('3.3.4', '/data/local/tmp/scrcpy-server.jar', latest, { ...has, push: true })
}

const old = new AdbScrcpyOptions3_3_3({ audio: false }, { version: '3.3.2' })
await assert.rejects(AdbScrcpyClient.start(adb, stub('1.24'), old), (error) => {
  assert.ok(error instanceof AdbScrcpyExitedError)
  assert.match(error.output.join('\n'), /The server version \(1\.24\) does not match the client \(3\.3\.2\)/)
  return true
})
await adb.close()
process.exit(0)
