//! Appending: all or nothing, once, by one writer.

use super::*;
use crate::engine_tests;

/// Blocks in which the same and ever new accounts meet.
fn busy_chain(length: u64) -> Vec<NewBlock> {
    (0..length)
        .map(|number| {
            let new = u8::try_from(number % 100).unwrap();
            let mut block = block_with(number, vec![transfer(1, 2), transfer(2, new), transfer(new, new)]);
            block.vote = (number % 3 == 0).then_some(NewVote { recipient: user(new), adds: number % 2 == 0 });
            block
        })
        .collect()
}

engine_tests! {
    async fn an_index_is_the_same_however_its_blocks_were_grouped(test: TestDb) {
        let chain = busy_chain(60);
        fill(test, &chain).await;
        let expected = test.dump_index().await;
        for group in [1, 7, 59] {
            let db = Db::open(&test.fresh_url().await).await.unwrap();
            for blocks in chain.chunks(group) {
                // A new writer each time remembers nothing of the last.
                fill(&db, blocks).await;
            }
            assert_eq!(db.dump_index().await, expected, "groups of {group}");
            db.close().await;
        }
    }

    async fn a_writer_goes_on_where_the_index_ends(test: TestDb) {
        assert_eq!(test.index_head().await.unwrap(), None);
        fill(test, &[block(0), block(1)]).await;
        let head = IndexHead { number: 1, hash: hash(1), timestamp: BEGIN + 10 };
        assert_eq!(test.index_head().await.unwrap(), Some(head));
        let writer = writer(test).await;
        assert_eq!((writer.head(), writer.next_number(), writer.next_parent()), (Some(head), 2, hash(1)));
    }

    async fn of_two_writers_after_the_same_block_one_is_overtaken(test: TestDb) {
        fill(test, &[block(0)]).await;
        let (mut first, mut second) = (writer(test).await, writer(test).await);
        let (one, two) = ([block_with(1, vec![transfer(1, 2)])], [block_with(1, vec![transfer(3, 4)])]);
        let (a, b) = tokio::join!(first.append(&one), second.append(&two));
        let outcomes = [a.unwrap(), b.unwrap()];
        assert!(outcomes.contains(&Appended::Written) && outcomes.contains(&Appended::Overtaken), "{outcomes:?}");
        assert_eq!(test.list_transactions(None, 10).await.unwrap().len(), 1);
    }

    async fn many_writers_build_one_index_between_them(test: TestDb) {
        let chain = busy_chain(40);
        let writers: Vec<_> = (0..6)
            .map(|_| {
                let (db, chain) = (test.db(), chain.clone());
                tokio::spawn(async move {
                    let mut writer = writer(&db).await;
                    while let Some(block) = chain.get(usize::try_from(writer.next_number()).unwrap()) {
                        if writer.append(std::slice::from_ref(block)).await.unwrap() == Appended::Overtaken {
                            writer.refresh().await.unwrap();
                        }
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
        let alone = Db::open(&test.fresh_url().await).await.unwrap();
        fill(&alone, &chain).await;
        assert_eq!(test.dump_index().await, alone.dump_index().await);
        alone.close().await;
    }

    async fn blocks_that_cannot_be_stored_leave_nothing_behind(test: TestDb) {
        fill(test, &[block(0)]).await;
        let before = test.dump_index().await;
        let mut writer = writer(test).await;
        let unstorable = NewBlock { timestamp: u64::MAX, ..block_with(2, vec![transfer(5, 6)]) };
        let error = writer.append(&[block_with(1, vec![transfer(3, 4)]), unstorable]).await.unwrap_err();
        assert!(!error.is_temporary(), "{error}");
        assert_eq!(test.dump_index().await, before);
        assert_eq!(writer.append(&[block(1)]).await.unwrap(), Appended::Written);
    }

    async fn an_index_of_another_chain_is_refused(test: TestDb) {
        fill(test, &[block(0)]).await;
        for other in [
            ChainIdentity { chain_id: 1, ..CHAIN },
            ChainIdentity { genesis_hash: B256::repeat_byte(1), ..CHAIN },
        ] {
            let refused = IndexWriter::open(test.db(), other).await.err().unwrap();
            assert!(matches!(refused, WriterError::OtherChain { found, .. } if found == CHAIN), "{refused}");
        }
    }

    async fn a_dropped_index_is_built_again_from_nothing(test: TestDb) {
        let chain = busy_chain(10);
        fill(test, &chain).await;
        let expected = test.dump_index().await;
        let mut stale = writer(test).await;
        let mut dropping = writer(test).await;
        assert_eq!(dropping.reset().await.unwrap(), Appended::Written);
        assert_eq!(test.index_head().await.unwrap(), None);
        assert_eq!(test.list_blocks(None, 10).await.unwrap(), []);
        assert_eq!(stale.append(&[block(10)]).await.unwrap(), Appended::Overtaken);
        assert_eq!(stale.reset().await.unwrap(), Appended::Overtaken);
        assert_eq!(dropping.append(&chain).await.unwrap(), Appended::Written);
        assert_eq!(test.dump_index().await, expected);
    }
}
