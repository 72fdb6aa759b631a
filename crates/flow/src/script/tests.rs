//! What scripts find, Maestro's rules, and hostile scripts.

use super::*;

fn engine() -> ScriptEngine {
    let mut engine = ScriptEngine::new("android", Parameters::new(), None).unwrap();
    for (name, value) in [("USER", "Ada"), ("N", "3"), ("EMPTY", ""), ("ON", "true")] {
        engine.define(name, Some(value.into()));
    }
    engine
}

fn text(engine: &mut ScriptEngine, script: &str) -> String {
    match engine.evaluate(script) {
        Ok(ScriptValue::Text(text)) => text,
        other => panic!("{script}: {other:?}"),
    }
}

/// The rules of `GraalJsEngine` and of JavaScript.
#[test]
fn scripts_see_parameters_and_give_texts() {
    let engine = &mut engine();
    for (script, expected) in [
        ("USER", "Ada"),
        ("OTHER || 'guest'", "guest"),
        ("USER || \"guest\"", "Ada"),
        ("EMPTY ?? 'x'", ""),
        ("'user' + N + '@example.com'", "user3@example.com"),
        ("N == 3 ? 'three' : 'other'", "three"),
        ("1 + 2", "3"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("3.0", "3"),
        ("null", "null"),
        ("'b' > 'a'", "true"),
        ("'10' < '9'", "true"),
        ("10 < '9'", "false"),
        ("ON == true", "false"),
        ("typeof OTHER", "undefined"),
        ("OTHER == null", "true"),
        ("USER.length", "3"),
        ("[1, 2].map((n) => n * 2).join('+')", "2+4"),
        ("parseInt(N) + 1", "4"),
        ("maestro.platform", "android"),
        ("json('{\"a\": [5]}').a[0]", "5"),
        ("relativePoint(0.5, 0.251)", "50%,26%"),
        ("const a = 1; const b = 2; a + b", "3"),
        ("`Hi ${USER}`", "Hi Ada"),
    ] {
        assert_eq!(text(engine, script), expected, "{script}");
    }
    assert_eq!(engine.evaluate("OTHER"), Ok(ScriptValue::Undefined));
    assert_eq!(engine.evaluate("({ a: 1 })"), Ok(ScriptValue::Object));
    assert_eq!(engine.evaluate(""), Ok(ScriptValue::Undefined));
}

#[test]
fn output_lasts_and_variables_do_not() {
    let engine = &mut engine();
    engine.evaluate("output.n = 1; const local = 2; output.twice = (x) => x * 2").unwrap();
    engine.evaluate("const local = 3; leaked = 4; USER = 'Bo'; output.n++").unwrap();
    assert_eq!(text(engine, "output.twice(output.n)"), "4");
    assert_eq!(engine.evaluate("local"), Ok(ScriptValue::Undefined));
    assert_eq!(engine.evaluate("leaked"), Ok(ScriptValue::Undefined));
    assert_eq!(text(engine, "USER"), "Ada");
    engine.evaluate("maestro.startTime = new Date(0)").unwrap();
    assert_eq!(text(engine, "maestro.startTime.getTime()"), "0");
    assert_eq!(engine.evaluate("maestro.copiedText"), Ok(ScriptValue::Undefined));
    engine.set_copied("Milk");
    assert_eq!(text(engine, "maestro.copiedText"), "Milk");
}

#[test]
fn scopes_restore_parameters() {
    let engine = &mut engine();
    engine.enter();
    engine.define("USER", Some("Bo".into()));
    engine.define("N", None);
    assert_eq!(text(engine, "USER + N"), "Boundefined");
    engine.leave();
    assert_eq!(text(engine, "USER + N"), "Ada3");
}

#[test]
fn errors_say_what_javascript_says() {
    let engine = &mut engine();
    for (script, part) in [
        ("output.user.name", "TypeError: cannot read property 'name' of undefined"),
        ("1 +", "SyntaxError"),
        ("throw new Error('no ' + USER)", "Error: no Ada"),
        ("throw 'a text'", "a text"),
        ("faker.name()", "`faker` is not supported"),
        ("new Date(0).toLocaleDateString('en-US', { month: 'long' })", "there are no locales"),
        ("(5).toLocaleString('de-DE')", "there are no locales"),
        ("new Intl.NumberFormat('de-DE')", "TypeError"),
    ] {
        let error = engine.evaluate(script).unwrap_err();
        assert!(error.contains(part), "{script}: {error}");
    }
    assert!(engine.check("output.n = (1 +").unwrap_err().contains("SyntaxError"));
    engine.check("output.n = 5; USER").unwrap();
    assert_eq!(engine.evaluate("output.n"), Ok(ScriptValue::Undefined), "a check runs nothing");
    engine.evaluate("console.log('a', { b: 1 }, 2)").unwrap();
    assert_eq!(engine.take_lines(), ["a {\"b\":1} 2"]);
}

#[test]
fn promises_are_settled_before_the_next_script() {
    let engine = &mut engine();
    engine.evaluate("Promise.resolve(5).then((n) => { output.n = n })").unwrap();
    assert_eq!(text(engine, "output.n"), "5");
}

/// Each ends by itself or by a limit, and the next script is not affected.
#[test]
fn hostile_scripts_are_bounded() {
    let engine = &mut engine();
    let began = Instant::now();
    for script in [
        "const all = []; for (;;) all.push(new Array(1000).fill('x'))",
        "let text = 'x'; for (;;) text += text",
        "'x'.repeat(2 ** 30)",
        "new ArrayBuffer(2 ** 34)",
        "new Array(2 ** 32 - 1).fill(0)",
        "(function deep() { deep() })()",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a)",
        "JSON.parse('['.repeat(1e6))",
        "eval('('.repeat(1e6))",
        "new RegExp('('.repeat(1e6))",
        "Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)",
        "import('fs')",
        "require('fs')",
        "std.open('/etc/passwd')",
        "os.exec(['id'])",
        "Deno.readTextFile('/etc/passwd')",
        "Java.type('java.lang.System')",
        "http.get('http://127.0.0.1:9')",
        "new XMLHttpRequest()",
        "fetch('http://127.0.0.1:9')",
    ] {
        engine.begin();
        let ended = engine.evaluate(script);
        let is_object = script.starts_with("import") && ended == Ok(ScriptValue::Object);
        assert!(ended.is_err() || is_object, "{script}: {ended:?}");
        assert_eq!(text(engine, "1 + 1"), "2", "{script}");
    }
    assert!(began.elapsed() < MAX_TIME, "{:?}", began.elapsed());
}

#[test]
fn endless_scripts_are_stopped() {
    let engine = &mut engine().with_time(Duration::from_millis(200));
    let began = Instant::now();
    for script in [
        "for (;;) {}",
        "for (;;) { try { null.x } catch {} }",
        "(function again() { try { again() } finally { again() } })()",
        "/^(a+)+$/.test('a'.repeat(60) + 'b')",
        "[...(function* () { for (;;) yield })()].length",
        "Array.from({ length: 1e9 }, (_, n) => n * n).length",
        "let n = 0n; for (;;) n = n * n + 3n",
        "new Proxy({}, { get() { for (;;); } }).x",
        "({ toString() { for (;;); } }) + ''",
        "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
        "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
        "new Array(2 ** 32 - 1).lastIndexOf(1)",
    ] {
        engine.begin();
        let error = engine.evaluate(script).unwrap_err();
        let is_bounded = ["was stopped after 0.2 s", "out of memory", "call stack", "BigInt"];
        assert!(is_bounded.iter().any(|part| error.contains(part)), "{script}: {error}");
        engine.begin();
        assert_eq!(text(engine, "1 + 1"), "2", "{script}");
    }
    engine.begin();
    engine.evaluate("(function on() { Promise.resolve().then(on) })()").unwrap();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn prototype_tricks_hurt_only_the_script() {
    let engine = &mut engine();
    for script in [
        "Object.prototype.toString = () => { throw 1 }; Object.prototype.polluted = 1",
        "JSON.parse = JSON.stringify = () => { throw 2 }",
        "globalThis.eval = () => 'eval'; String = () => 'string'",
        "Object.defineProperty(Object.prototype, 'USER', { get() { throw 3 } })",
        "output.__proto__ = null; output.a = 1",
        "Object.freeze(globalThis.maestro); maestro = 5; http = 6",
        "Object.setPrototypeOf(globalThis, null)",
        "Array.prototype[Symbol.iterator] = null",
        "Function.prototype.call = Function.prototype.apply = null",
    ] {
        let _ = engine.evaluate(script);
        engine.set_copied("x");
        let _ = engine.evaluate("output.a");
    }
    let _ = engine.evaluate("Object.defineProperty(globalThis, 'N', { value: 9 })");
    assert!(engine.evaluate("1 + N").is_err() || engine.evaluate("1").is_ok());
    // The next case has an engine of its own.
    assert_eq!(text(&mut self::engine(), "USER + N + 'polluted'.length"), "Ada38");
}

/// Answers each request with itself.
struct Echo;

impl ScriptNetwork for Echo {
    fn send(&self, request: ScriptRequest) -> Result<ScriptResponse, String> {
        if request.url.contains("forbidden") {
            return Err("the host is not allowed".into());
        }
        let headers = vec![("x-kind".to_owned(), "echo".to_owned())];
        let ScriptRequest { method, url, headers: sent, body } = request;
        let body = format!("{{\"call\": {:?}}}", format!("{method} {url} {sent:?} {body:?}"));
        Ok(ScriptResponse { status: 201, headers, body })
    }
}

/// "HTTP requests" of Maestro's documentation.
#[test]
fn http_sends_and_returns_what_it_does_in_maestro() {
    let mut engine = ScriptEngine::new("ios", Parameters::new(), Some(Arc::new(Echo))).unwrap();
    let engine = &mut engine;
    let script = "const it = http.post('http://a/b', { body: JSON.stringify({ n: 1 }), headers: { A: 5 } });\n\
                  [it.ok, it.status, it.headers['x-kind'], json(it.body).call].join(' ')";
    let expected = r#"true 201 echo POST http://a/b [("A", "5")] Some("{\"n\":1}")"#;
    assert_eq!(text(engine, script), expected);
    let sent = "json(http.request('http://a', { method: 'patch' }).body).call";
    assert_eq!(text(engine, sent), "PATCH http://a [] None");
    for (script, part) in [
        ("http.get('http://forbidden')", "GET http://forbidden: the host is not allowed"),
        ("http.post('http://a', { multipartForm: { a: 1 } })", "scripts read no files"),
    ] {
        let error = engine.evaluate(script).unwrap_err();
        assert!(error.contains(part), "{script}: {error}");
    }
}
