// adbkit drives a phone: `adbkit_drives.mjs ADDRESS all|core RELEASE APKS`. Asserts its results; a line `phone: …` is a
// request to the phone's owner.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import net from 'node:net'
import readline from 'node:readline'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import adbkit from '@devicefarmer/adbkit'

const { Adb } = adbkit
const [address, mode, release, apks] = process.argv.slice(2)
const old = release === '4.4'
const sdk = { 4.4: '19', 9: '28', 14: '34', 16: '36' }[release]
const answers = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const owner = async (wish) => {
  console.log(`phone: ${wish}`)
  return (await answers.next()).value
}

const client = Adb.createClient({ port: Number(process.env.ANDROID_ADB_SERVER_PORT) })
const phone = client.getDevice(address)
const all = async (stream) => Adb.util.readAll(await stream)
const said = async (command) => String(await all(phone.shell(command))).trim()
const ended = (transfer) => new Promise((resolve, reject) => transfer.on('end', resolve).on('error', reject))
const pulled = async (path) => {
  const transfer = await phone.pull(path)
  const chunks = []
  transfer.on('data', (chunk) => chunks.push(chunk))
  await ended(transfer)
  return Buffer.concat(chunks)
}
const isPng = (bytes) => assert.deepEqual([...bytes.subarray(0, 8)], [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10])

async function core() {
  const listed = await client.listDevices()
  assert.deepEqual(listed.map(({ id, type }) => [id, type]), [[address, 'device']])
  assert.equal(await phone.getState(), 'device')
  // adbkit 3.3.9 sends `get-devpath` for it, which no phone on TCP has.
  assert.equal(await phone.getSerialNo(), 'unknown')
  assert.equal(await said("echo 'a  b'"), 'a  b')
  assert.equal(await said(['echo', "it's", '$HOME']), "it's $HOME")
  const properties = await phone.getProperties()
  assert.equal(properties['ro.build.version.sdk'], sdk)
  assert.ok((await phone.getPackages()).includes('com.android.settings'))
  assert.ok(await phone.isInstalled('com.android.settings'))
  assert.equal(await phone.isInstalled('no.such.app'), false)
  const features = await phone.getFeatures()
  assert.equal(features['android.hardware.touchscreen'], true)
  // An old terminal turns each line end of the image into two bytes, which adbkit reverts.
  isPng(await all(phone.screencap()))
  const data = Buffer.alloc(1_000_000, Buffer.from(Array.from({ length: 256 }, (_, at) => at)))
  await ended(await phone.push(Readable.from(data, { objectMode: false }), '/sdcard/Download/data', 0o644))
  assert.ok((await pulled('/sdcard/Download/data')).equals(data))
  const stats = await phone.stat('/sdcard/Download/data')
  assert.ok(stats.isFile() && stats.size === data.length)
  const names = (await phone.readdir('/sdcard/Download')).map((entry) => entry.name)
  assert.ok(names.includes('data'), String(names))
  await assert.rejects(phone.stat('/sdcard/nowhere'), { code: 'ENOENT' })
  // adbkit ends such a transfer before it reports the error.
  await assert.rejects(once(await phone.pull('/sdcard/nowhere'), 'nothing'), /No such file or directory/)
  await phone.startActivity({ component: 'com.android.settings/.Settings', wait: true })
  assert.match(await said('dumpsys window | grep mCurrentFocus'), /com\.android\.settings\//)
  await assert.rejects(phone.startActivity({ component: 'no.such/.App' }), /does not exist/)
  assert.ok(await phone.clear('com.android.settings'))
  await assert.rejects(phone.clear('no.such.app'), /could not be cleared/)
  // adbkit does not know the header of newer phones, which contains the colour space.
  if (old) {
    const frame = await phone.framebuffer('raw')
    const { width, height, bpp } = frame.meta
    assert.deepEqual([width, height, bpp], [480, 800, 32])
    assert.equal((await Adb.util.readAll(frame)).length, width * height * 4)
  }
}

async function rest() {
  fs.writeFileSync('file', 'from a file')
  await ended(await phone.push('file', '/data/local/tmp/file'))
  assert.equal(await said('cat /data/local/tmp/file'), 'from a file')
  const sync = await phone.syncService()
  assert.equal((await sync.stat('/data/local/tmp/file')).size, 11)
  sync.end()

  await owner('echo localabstract:echo')
  const server = net.createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const free = net.createServer()
  free.listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = free.address()
  free.close()
  await once(free, 'close')
  await phone.forward(`tcp:${port}`, 'localabstract:echo')
  assert.deepEqual((await phone.listForwards()).map(({ local, remote }) => [local, remote]), [[`tcp:${port}`, 'localabstract:echo']])
  const near = net.connect(port, '127.0.0.1')
  near.write('over the forward')
  assert.equal(String((await once(near, 'data'))[0]), 'over the forward')
  near.destroy()
  const straight = await phone.openLocal('localabstract:echo')
  straight.write('straight')
  assert.equal(String((await once(straight, 'data'))[0]), 'straight')
  straight.end()
  server.on('connection', (stream) => stream.once('data', (bytes) => stream.end(bytes)))
  const back = `tcp:${server.address().port}`
  await phone.reverse('tcp:8082', back)
  assert.deepEqual((await phone.listReverses()).map(({ local, remote }) => [remote, local]), [['tcp:8082', back]])
  assert.equal(await owner('call tcp:8082'), 'ping')
  server.close()

  assert.equal(await phone.waitBootComplete(), true)

  const log = await phone.openLogcat({ clear: true })
  const entry = new Promise((resolve) => log.on('entry', (entry) => entry.tag === 'Mark' && resolve(entry)))
  await said('log -t Mark -p w hello')
  const { message, priority } = await entry
  assert.deepEqual([message, priority], ['hello', 5])
  log.end()

  assert.ok(await phone.install(`${apks}/hello-2.apk`))
  assert.ok(await phone.isInstalled('org.example.hello'))
  await assert.rejects(phone.install(`${apks}/hello-1.apk`), { code: /^INSTALL_FAILED_VERSION_DOWNGRADE/ })
  assert.ok(await phone.uninstall('org.example.hello'))
  assert.equal(await phone.isInstalled('org.example.hello'), false)

  await phone.startService({ component: 'com.android.settings/.NoService' }).catch((error) => assert.match(String(error), /not found|no service/i))
  await assert.rejects(phone.getDHCPIpAddress(), /Unable to find ipaddress/)
  await assert.rejects(phone.root(), /cannot run as root in production builds/)
  assert.equal(await phone.tcpip(5555), 5555)
}

async function comingsAndGoings() {
  const again = async () => {
    for (let tries = 0; tries < 100; tries++) {
      await client.disconnect(address.split(':')[0], Number(address.split(':')[1])).catch(() => {})
      if (await client.connect(address.split(':')[0], Number(address.split(':')[1])).then(() => true, () => false)) return
    }
    assert.fail('it does not come back')
  }
  await again()
  await phone.waitForDevice()
  const tracker = await client.trackDevices()
  const seen = () => tracker.deviceList.map(({ type }) => type).join()
  const until = async (isSo) => {
    for (let tries = 0; !isSo(seen()); tries++) {
      assert.ok(tries < 600, seen())
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  await until((types) => types === 'device')
  assert.ok(await phone.reboot())
  await owner('gone')
  await until((types) => types !== 'device')
  await owner('plug')
  await again()
  await until((types) => types === 'device')
  assert.equal(await said('echo back'), 'back')
  tracker.end()
}

await core()
if (mode === 'all') {
  await rest()
  await comingsAndGoings()
}
process.exit(0)
