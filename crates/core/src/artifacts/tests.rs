//! The artifact store, in temporary folders.

use tokio::io::AsyncWriteExt as _;

use super::*;

async fn write(keep: &ArtifactStore, name: &str, bytes: &[u8]) -> Result<LocalFile, Error> {
    let mut draft = keep.begin(Folder::Assets, name)?;
    draft.writer()?.write_all(bytes).await.unwrap();
    draft.persist().await
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn equal_names_get_numbers() {
    let root = tempfile::tempdir().unwrap();
    let keep = ArtifactStore::new(root.path());
    for (bytes, name) in [(1, "a.png"), (2, "a-2.png"), (3, "a-3.png")] {
        let file = write(&keep, "a.png", &vec![0; bytes]).await.unwrap();
        assert_eq!(
            file,
            LocalFile { path: root.path().join("assets").join(name), bytes: bytes as u64 }
        );
    }
    assert_eq!(write(&keep, "plain", b"").await.unwrap().path.file_name().unwrap(), "plain");
    assert_eq!(write(&keep, "plain", b"").await.unwrap().path.file_name().unwrap(), "plain-2");
    assert_eq!(write(&keep, ".png", b"").await.unwrap().path.file_name().unwrap(), ".png");
    assert_eq!(write(&keep, ".png", b"").await.unwrap().path.file_name().unwrap(), ".png-2");
}

#[tokio::test]
async fn dropped_files_are_removed() {
    let root = tempfile::tempdir().unwrap();
    let (keep, folder) = (ArtifactStore::new(root.path()), root.path().join("assets"));
    let mut draft = keep.begin(Folder::Assets, "half.mp4").unwrap();
    draft.writer().unwrap().write_all(b"half").await.unwrap();
    let [half] = &names(&folder)[..] else { panic!("there is one file") };
    assert!(half.starts_with(".thumbwire-") && half.ends_with(".part"), "{half}");
    drop(draft);
    assert!(names(&folder).is_empty());
    write(&keep, "whole.png", b"whole").await.unwrap();
    let _half = keep.begin(Folder::Assets, "half.mp4").unwrap();
    keep.discard();
    assert_eq!(names(&folder), ["whole.png"]);
}

#[tokio::test]
async fn leftovers_of_killed_programs_are_removed_and_drafts_of_others_stay() {
    let root = tempfile::tempdir().unwrap();
    let (keep, folder) = (ArtifactStore::new(root.path()), root.path().join("assets"));
    let other = ArtifactStore::new(root.path()).begin(Folder::Assets, "a.mp4").unwrap();
    std::fs::write(folder.join(".thumbwire-1-0.part"), "left").unwrap();
    std::fs::write(folder.join(".thumbwire-notes"), "a person's").unwrap();
    write(&keep, "whole.png", b"whole").await.unwrap();
    let left = names(&folder);
    assert_eq!(left.len(), 3, "{left:?}");
    assert_eq!(other.persist().await.unwrap().path, folder.join("a.mp4"));
    assert_eq!(names(&folder), [".thumbwire-notes", "a.mp4", "whole.png"]);
}

#[tokio::test]
async fn names_with_paths_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let keep = ArtifactStore::new(root.path());
    for name in ["../x.png", "/tmp/x.png", "a/b.png", ""] {
        assert!(matches!(write(&keep, name, b"").await, Err(Error::Name(_))), "{name:?}");
    }
    assert!(names(root.path()).is_empty());
}

#[cfg(unix)]
#[tokio::test]
async fn symbolic_links_cannot_leave_the_root() {
    use std::os::unix::fs::symlink;
    let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let keep = ArtifactStore::new(root.path());
    std::fs::create_dir(root.path().join("assets")).unwrap();
    symlink(elsewhere.path().join("a.png"), root.path().join("assets/a.png")).unwrap();
    assert_eq!(write(&keep, "a.png", b"x").await.unwrap().path.file_name().unwrap(), "a-2.png");
    symlink(elsewhere.path(), root.path().join("logs")).unwrap();
    let refused = keep.begin(Folder::Logs, "a.log");
    assert!(matches!(refused, Err(Error::Outside { .. })), "{refused:?}");
    assert!(names(elsewhere.path()).is_empty());
    // The root itself may be a link: the operator chose it.
    let way = root.path().join("way");
    symlink(elsewhere.path(), &way).unwrap();
    assert!(write(&ArtifactStore::new(&way), "a.png", b"x").await.unwrap().path.starts_with(&way));
}

#[tokio::test]
async fn errors_name_the_folder_that_cannot_be_created() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("assets"), "in the way").unwrap();
    let output =
        write(&ArtifactStore::new(root.path()), "a.png", b"x").await.unwrap_err().to_string();
    assert!(output.starts_with("write ") && output.contains("assets"), "{output}");
}

#[test]
fn reported_paths_start_with_the_root() {
    assert_eq!(ArtifactStore::new(".").root.join(Folder::Assets.name()), Path::new("assets"));
    assert_eq!(ArtifactStore::new("out").root.join(Folder::Logs.name()), Path::new("out/logs"));
}
